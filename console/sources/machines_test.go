package sources

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/console"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
)

// some are machines of a test.
type some struct{ load float64 }

func (s some) Overview() ([]fleet.Shown, error) {
	return []fleet.Shown{{
		Name: "m1", Address: "a:1", State: fleet.Up, Takes: true, Turns: 4, Taken: 2, Mine: 1, Conversations: 7, Waiting: 3,
		Labels: map[string]string{"gpu": "yes"}, CPUs: 2, Load: s.load, FreeDisk: 12_345_678_901, Codex: "0.169.0",
	}, {Name: "m2", State: fleet.Lost, Draining: true, Why: "it has s3cret-value"}}, errors.New("line s3cret-value")
}
func (s some) Standing() fleet.Standing         { return fleet.Standing{Waiting: 5} }
func (s some) Where(conversation string) string { return "of " + conversation }

// TestMachines: what always changes is rounded, and secrets are not shown.
func TestMachines(t *testing.T) {
	o := &Overview{Config: Config{Redact: logging.NewRedactor("s3cret-value").String}}
	if got := o.machines(); got != nil {
		t.Errorf("without machines they are %v", got)
	}
	threads := []console.Thread{{ContextID: "c"}}
	if got := o.placed(threads)[0].Machine; got != "" {
		t.Errorf("without machines a thread is on %q", got)
	}
	o.Machines = some{1.234}
	redacted := o.Redact("s3cret-value")
	want := &console.Machines{Waiting: 5, Trouble: "line " + redacted, List: []console.Machine{{
		Name: "m1", Address: "a:1", State: "up", Takes: true, Turns: 4, Taken: 2, Mine: 1, Conversations: 7, Waiting: 3,
		Labels: map[string]string{"gpu": "yes"}, CPUs: 2, Load: 1.2, FreeDisk: 12_300_000_000, Codex: "0.169.0",
	}, {Name: "m2", State: "lost", Draining: true, Why: "it has " + redacted}}}
	if diff := cmp.Diff(want, o.machines()); diff != "" || redacted == "s3cret-value" {
		t.Error(diff)
	}
	if got := o.placed(threads)[0].Machine; got != "of c" {
		t.Errorf("a thread is on %q", got)
	}
}
