package readiness

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// said is what a test says of machines.
type said struct{ now fleet.Standing }

func (s *said) Standing() fleet.Standing { return s.now }

// idle is an executor in which nothing runs.
type idle struct{}

func (idle) Health() executor.Health    { return executor.Health{} }
func (idle) Ping(context.Context) error { return nil }

// TestMachines: that no machine takes turns for a moment keeps the runtime ready, since turns wait; for long, or from the
// start on, it does not, and the platform hears of the former.
func TestMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fine := preflight.Check{Name: "codex", Run: func(context.Context) preflight.Result { return preflight.Result{Status: preflight.OK} }}
		checks := NewChecks(ChecksConfig{Checks: []preflight.Check{fine}})
		machines := &said{}
		ready := New(Config{Checks: checks, Turns: idle{}, Redact: logging.NewRedactor(), Machines: machines})
		defer closed(t, ready, checks)
		wedge := Wedge{Turns: idle{}, Checks: checks, Machines: machines}
		for name, c := range map[string]struct {
			now    fleet.Standing
			gone   time.Duration // for which none takes turns; 0 is that one does
			ok     bool
			wedged bool
			words  []string
		}{
			"all take turns":      {fleet.Standing{Machines: 3, Taking: 3, Ever: true}, 0, true, false, []string{"3 of 3 take turns, 0 turns wait for one"}},
			"one does":            {fleet.Standing{Machines: 2, Taking: 1, Waiting: 4, Ever: true, Why: "m2 is lost"}, 0, true, false, []string{"1 of 2 take turns, 4 turns wait for one; m2 is lost"}},
			"none does":           {fleet.Standing{Machines: 1, Waiting: 2, Ever: true, Why: "m1 drains"}, 30 * time.Second, true, false, []string{"none of 1 takes turns since ", "2 turns wait; m1 drains; have runtime machine run there"}},
			"none does for long":  {fleet.Standing{Machines: 1, Ever: true}, time.Minute, false, true, []string{"none of 1", "runtime doctor"}},
			"none ever has":       {fleet.Standing{Machines: 1}, time.Second, false, false, []string{"none of 1"}},
			"the list has faults": {fleet.Standing{Machines: 1, Taking: 1, Ever: true, Trouble: errors.New("line 2 is none")}, 0, true, false, []string{"cannot be read as a whole: line 2 is none"}},
		} {
			if machines.now = c.now; c.gone > 0 {
				machines.now.None = time.Now().Add(-c.gone)
			}
			got := ready.Get(t.Context())
			found := false
			for _, check := range got.Checks {
				if check.Name != "machines" {
					continue
				}
				found = true
				for _, words := range c.words {
					if check.OK != c.ok || !strings.Contains(check.Message, words) {
						t.Errorf("%s: %+v", name, check)
					}
				}
			}
			if !found || got.OK != c.ok {
				t.Errorf("%s: ready is %t, with %+v", name, got.OK, got.Checks)
			}
			if why := wedge.Why(); (why != "") != c.wedged {
				t.Errorf("%s: the platform hears %q", name, why)
			}
		}
	})
}
