package inquiry

import "github.com/Molecule-AI/molecule-codex-runtime/agent"

// mostCalls bounds the requests to the model that wait to be told: a turn that waits for its
// subagents takes none meanwhile.
const mostCalls = 1000

// Called keeps that codex has made a request to the model for the attempt, until the turn takes it.
// One that is too much is let go.
func (in *Inquiry) Called(call agent.ModelCalled) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.called) < mostCalls {
		in.called = append(in.called, call)
	}
}

// TakeCalls returns the requests that were made since it was called last.
func (in *Inquiry) TakeCalls() (called []agent.ModelCalled) {
	in.mu.Lock()
	defer in.mu.Unlock()
	called, in.called = in.called, nil
	return called
}
