package fleet_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
)

// shown is how a machine is.
func (r *rig) shown(name string) fleet.Shown {
	r.Helper()
	all, _ := r.Overview()
	for _, m := range all {
		if m.Name == name {
			return m
		}
	}
	r.Fatalf("%s is not shown: %v", name, all)
	return fleet.Shown{}
}

// TestDrain: when a machine is said to drain no turn is placed there any more, by its name or its address, and it can be
// taken back.
func TestDrain(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1", "m2"}, func(r *rig) {
		for i, name := range []string{"m1", "m2:2"} {
			if err := r.Drain(r.Context(), name, true); err != nil {
				t.Fatal(err)
			}
			if m := r.shown(name[:2]); m.Takes || !m.Draining || m.Words() != "drains" {
				t.Errorf("%s is %+v, %q", name, m, m.Words())
			}
			if i == 0 {
				if on := r.take("a").On().Machine; on != "m2" {
					t.Errorf("a turn is on %s, which drains", on)
				}
			}
		}
		if none := r.none("b"); !strings.Contains(none.Why, "m1 drains") {
			t.Errorf("it waits for %q", none.Why)
		}
		if err := r.Drain(r.Context(), "m1", false); err != nil {
			t.Fatal(err)
		}
		if on := r.take("b").On().Machine; on != "m1" || r.Where("b") != "m1" {
			t.Errorf("a turn is on %s, and the conversation on %s", on, r.Where("b"))
		}
	})
}

// TestDrainOfNone: a name that is no machine's is answered with those that there are, and one that is away with how it
// stands.
func TestDrainOfNone(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1", "m2"}, func(r *rig) {
		err := r.Drain(r.Context(), "m9", true)
		if none, is := errors.AsType[*fleet.NoMachineError](err); !is || none.Error() != `there is no machine "m9": there are m1, m2` {
			t.Errorf("no such machine: %v", err)
		}
		r.on["m2"].set(true, func() { r.on["m2"].dead = true })
		time.Sleep(3 * time.Second)
		err = r.Drain(r.Context(), "m2", true)
		if away, is := errors.AsType[*fleet.AwayError](err); !is || away.Error() != "machine m2 is lost: it has ended: it takes no connections" {
			t.Errorf("a machine that is gone: %v", err)
		}
		if r.counts.lost[0] != "m2" || len(r.counts.lost) != 1 {
			t.Errorf("lost are %v", r.counts.lost)
		}
	})
}

// TestDrainUnheard: a machine that does not say that it drains is not said to.
func TestDrainUnheard(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1"}, func(r *rig) {
		r.on["m1"].set(false, func() { r.on["m1"].cut = true })
		began := time.Now()
		if err := r.Drain(r.Context(), "m1", true); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 3*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

// TestStanding: it is known since when no machine takes turns, why, and how many turns wait.
func TestStanding(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1", "m2"}, func(r *rig) {
		if s := r.Standing(); s.Machines != 2 || s.Taking != 2 || !s.Ever || !s.None.IsZero() || s.Why != "" {
			t.Errorf("both are up: %+v", s)
		}
		r.take("a").Leave("")
		r.on["m1"].set(true, func() { r.on["m1"].dead = true })
		time.Sleep(3 * time.Second)
		if s := r.Standing(); s.Taking != 1 || !s.None.IsZero() || s.Why != "m1 is lost: it has ended: it takes no connections" {
			t.Errorf("one is gone: %+v", s)
		}
		if err := r.Drain(r.Context(), "m2", true); err != nil {
			t.Fatal(err)
		}
		since := time.Now()
		r.none("b")
		time.Sleep(10 * time.Second)
		if s := r.Standing(); s.Taking != 0 || s.Waiting != 1 || !s.Ever || !s.None.Equal(since) || !strings.HasSuffix(s.Why, "; m2 drains") {
			t.Errorf("none takes turns since %v: %+v", since, s)
		}
		if err := r.Drain(r.Context(), "m2", false); err != nil {
			t.Fatal(err)
		}
		r.take("b")
		if s := r.Standing(); s.Taking != 1 || s.Waiting != 0 || !s.None.IsZero() {
			t.Errorf("one is back: %+v", s)
		}
		if placed := r.placed; len(placed) != 2 || placed[0] != 0 || placed[1] < 10*time.Second || placed[1] > 12*time.Second {
			t.Errorf("turns have waited %v", placed)
		}
	})
}

// TestLabelsShown: a machine that has not the labels that are asked for is said to take no turns.
func TestLabelsShown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{T: t, journal: &journal{at: map[string]string{}}, on: map[string]*double{}, labels: placement.Labels{"gpu": "yes"}}
		r.open([]string{"m1"})
		if m := r.shown("m1"); m.Takes || m.Why != "it is none with gpu=yes (RUNTIME_MACHINES_LABELS)" {
			t.Errorf("it is %+v", m)
		}
		if s := r.Standing(); s.Ever || s.None.IsZero() {
			t.Errorf("it stands so: %+v", s)
		}
		r.on["m1"].set(false, func() { r.on["m1"].labels = map[string]string{"gpu": "yes", "os": "linux"} })
		time.Sleep(2 * time.Second)
		if m := r.shown("m1"); !m.Takes || m.Words() != "takes turns" {
			t.Errorf("with the label it is %+v", m)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestCloseIsNoLoss: a machine that is let go of is not counted as lost.
func TestCloseIsNoLoss(t *testing.T) {
	t.Parallel()
	var lost []string
	simulated(t, []string{"m1"}, func(r *rig) {
		p := r.take("a")
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if p.Lost().Err() == nil {
			t.Error("a place outlives the fleet")
		}
		lost = r.counts.lost
	})
	if len(lost) > 0 {
		t.Errorf("lost are %v", lost)
	}
}

// TestLeavingShown: a machine that is not in the list any more, and on which a turn still runs, takes no others.
func TestLeavingShown(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1", "m2"}, func(r *rig) {
		p := r.take("a")
		leaves, stays := p.On().Machine, map[string]string{"m1": "https://m2:2", "m2": "https://m1:1"}
		r.list(stays[leaves])
		if m := r.shown(leaves); m.Takes || m.State != fleet.Up || m.Why != "it is not in the list of machines any more" {
			t.Errorf("it is %+v", m)
		}
		if s := r.Standing(); s.Taking != 1 {
			t.Errorf("they stand so: %+v", s)
		}
		p.Leave("")
	})
}
