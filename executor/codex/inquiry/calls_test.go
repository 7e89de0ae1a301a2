package inquiry

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// TestCalls are taken once, and have a bound until they are.
func TestCalls(t *testing.T) {
	t.Parallel()
	in := NewDesk(Bounds{}).Open("thread", executor.Order{}, func() {})
	for i := range mostCalls + 1 {
		in.Called(agent.ModelCalled{Tokens: i})
	}
	taken := in.TakeCalls()
	if len(taken) != mostCalls || taken[1].Tokens != 1 {
		t.Errorf("%d are taken", len(taken))
	}
	if again := in.TakeCalls(); len(again) > 0 {
		t.Errorf("%d are taken again", len(again))
	}
}
