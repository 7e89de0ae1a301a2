package codex

import "github.com/Molecule-AI/molecule-codex-runtime/agent"

// called hears of a request to the model that has ended. All are counted, also those that are for no
// turn; a turn is left its own, and those of its subagents.
func (d *Driver) called(threadID string, call agent.ModelCalled) {
	d.cfg.Metrics.ModelCalled(call.Transport(), call.Outcome(), call.Connect, call.First)
	if in := d.desk.Of(threadID); in != nil {
		in.Called(call)
	}
}

// tellCalls tells of the requests to the model that have ended. Codex has the end of an answer after that
// was heard of, so what it makes of the answer is told behind the request.
func (t *turn) tellCalls() {
	for _, call := range t.inquiry.TakeCalls() {
		t.To.Tell(call)
	}
}
