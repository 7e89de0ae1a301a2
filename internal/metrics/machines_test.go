package metrics

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
)

type shown []fleet.Shown

func (s shown) Overview() ([]fleet.Shown, error) { return s, nil }
func (s shown) Standing() fleet.Standing         { return fleet.Standing{Waiting: 7} }

func TestMachines(t *testing.T) {
	m := NewMachines()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	m.MachineLost("m2")
	m.MachineLost("m2")
	m.Placed(20 * time.Millisecond)
	m.Show(shown{
		{Name: "m1", Address: "a:1", State: fleet.Up, Takes: true, Mine: 2, Conversations: 5},
		{Name: "m2", Address: "b:1", State: fleet.Lost}, {Name: "m2", Address: "c:1", State: fleet.Up, Takes: true, Mine: 1, Conversations: 3}, // at another address
		{Name: "m3", Address: "d:1", State: fleet.Up, Draining: true},
		{Name: "gone", Conversations: 9}, // known by its conversations alone
	})
	want := `
# HELP molecule_codex_machine_conversations Conversations of this runtime that are on a machine.
# TYPE molecule_codex_machine_conversations gauge
molecule_codex_machine_conversations{machine="m1"} 5
molecule_codex_machine_conversations{machine="m2"} 3
molecule_codex_machine_conversations{machine="m3"} 0
# HELP molecule_codex_machine_lost_total How often a machine was lost, with the turns that ran there.
# TYPE molecule_codex_machine_lost_total counter
molecule_codex_machine_lost_total{machine="m1"} 0
molecule_codex_machine_lost_total{machine="m2"} 2
molecule_codex_machine_lost_total{machine="m3"} 0
# HELP molecule_codex_machine_takes_turns 1 while a machine takes turns, with room or without; 0 also while it drains, or is in trouble.
# TYPE molecule_codex_machine_takes_turns gauge
molecule_codex_machine_takes_turns{machine="m1"} 1
molecule_codex_machine_takes_turns{machine="m2"} 1
molecule_codex_machine_takes_turns{machine="m3"} 0
# HELP molecule_codex_machine_turns Turns of this runtime that run on a machine.
# TYPE molecule_codex_machine_turns gauge
molecule_codex_machine_turns{machine="m1"} 2
molecule_codex_machine_turns{machine="m2"} 1
molecule_codex_machine_turns{machine="m3"} 0
# HELP molecule_codex_machine_up 1 while a machine of RUNTIME_MACHINES is heard.
# TYPE molecule_codex_machine_up gauge
molecule_codex_machine_up{machine="m1"} 1
molecule_codex_machine_up{machine="m2"} 1
molecule_codex_machine_up{machine="m3"} 1
# HELP molecule_codex_machine_waiting Turns that wait for a machine.
# TYPE molecule_codex_machine_waiting gauge
molecule_codex_machine_waiting 7
`
	names := []string{"machine_up", "machine_takes_turns", "machine_turns", "machine_conversations", "machine_waiting", "machine_lost_total"}
	for i, name := range names {
		names[i] = "molecule_codex_" + name
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), names...); err != nil {
		t.Error(err)
	}
	if n := testutil.CollectAndCount(m, "molecule_codex_machine_wait_seconds"); n != 1 {
		t.Errorf("%d histograms of waits", n)
	}
}

// TestManyMachines: however many there were, the series are bounded.
func TestManyMachines(t *testing.T) {
	m := NewMachines()
	var all shown
	for i := range 2000 {
		name := fmt.Sprint("m", i)
		m.MachineLost(name)
		all = append(all, fleet.Shown{Name: name, Address: name})
	}
	m.Show(all)
	if n := testutil.CollectAndCount(m, "molecule_codex_machine_lost_total"); n != mostMachines+1 {
		t.Errorf("%d series of losses", n)
	}
	if n := testutil.CollectAndCount(m, "molecule_codex_machine_up"); n != mostMachines {
		t.Errorf("%d series of machines", n)
	}
	if got := testutil.ToFloat64(m.lost.WithLabelValues("other")); got != 2000-mostMachines {
		t.Errorf("%v losses of others", got)
	}
}
