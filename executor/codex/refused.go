package codex

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/failure"
)

// refusalOf is [failure.Reader.Refusal] for an error of the turn.
func (t *turn) refusalOf(failed *appserver.TurnError) *executor.Refusal {
	r := t.d.failures.Refusal(failed)
	if r != nil {
		r.Model, r.Unsure = t.c.otherModel(t.Options), t.unsure
	}
	return r
}

// limitGrace is what codex gets to be answered again after a rate limit that it
// tries to wait out: a limit that ends in a second must not cost a long turn.
const limitGrace = 5 * time.Second

// troubled acts on an error that codex tells of in the middle of a turn.
func (t *turn) troubled(n appserver.ErrorNote) {
	r := t.refusalOf(&n.Error)
	if r == nil || !n.WillRetry {
		if n.WillRetry {
			t.To.Tell(agent.Notice{Text: "codex tries again: " + t.d.failures.Words(n.Error.Message)})
		}
		return // the end of the turn says the same
	}
	if t.stopping != nil {
		return
	}
	rate := r.Kind == agent.FailLimit && r.Code != failure.UsageLimit
	if rate && (r.Until.IsZero() || time.Until(r.Until) < limitGrace) {
		t.To.Tell(agent.Notice{Text: "The model's provider asks to wait: " + r.Why})
		if t.limited == nil {
			t.attention.after(limitGrace, timerLimit)
		}
		t.limited = r
		return
	}
	t.attention.raise(r)
}

// failed is the failure of a turn that codex has ended.
func (t *turn) failed(failed *appserver.TurnError, tools bool) *agent.Failure {
	if t.refused = t.refusalOf(failed); t.refused != nil {
		return t.refused.Failure(tools)
	}
	if failed != nil {
		t.unreadable, t.httpStatus = failure.Unreadable(failed), failure.Status(failed)
	}
	return t.d.failures.Failure(failed)
}
