package codex

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// refusalOf returns what of an error of codex is a refusal, or nil.
func (d *Driver) refusalOf(failed *appserver.TurnError) *executor.Refusal {
	if failed == nil {
		return nil
	}
	name, status := failed.Code()
	words := failed.Message
	if name == "responseStreamDisconnected" && failed.AdditionalDetails != "" {
		words = failed.AdditionalDetails // the message counts codex's retries
	}
	kind := failureKind(name, status, words)
	if kind != agent.FailAuth && kind != agent.FailLimit {
		return nil
	}
	r := &executor.Refusal{Kind: kind, Code: name, Status: status, Usage: name == usageLimit, Why: sayable(d.words(words))}
	if kind == agent.FailLimit {
		r.Limit, r.Until = d.limitReached(name, words)
		if r.Until = reset(r.Until, time.Now()); !r.Until.After(time.Now()) { // a clock is wrong, theirs or ours
			r.Until = time.Time{}
		}
	}
	return r
}

// usageLimit is codex's name of the error where the account's allowance is used up.
const usageLimit = "usageLimitExceeded"

// limitReached returns the name of the limit that an error is about, and its end.
func (d *Driver) limitReached(code, words string) (name string, until time.Time) {
	now := time.Now()
	if code == usageLimit {
		if window, ok := d.limits.reached(now); ok {
			return window.Name, window.ResetsAt
		}
		return "usage", resetInWords(words, now)
	}
	return "rate", resetInWords(words, now)
}

// refusalOf is [Executor.refusalOf] for an error of the turn.
func (t *turn) refusalOf(failed *appserver.TurnError) *executor.Refusal {
	r := t.d.refusalOf(failed)
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
			t.To.Tell(agent.Notice{Text: "codex tries again: " + t.d.words(n.Error.Message)})
		}
		return // the end of the turn says the same
	}
	if t.stopping != nil {
		return
	}
	rate := r.Kind == agent.FailLimit && r.Code != usageLimit
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

// hasRead notes that the model has read what it was asked, with all that is before it.
func (t *turn) hasRead() {
	t.c.read, t.c.unread, t.c.named = t.id, "", false
	t.c.blocked.Store(false)
}

// answered notes that the model answers.
func (t *turn) answered() {
	if t.limited != nil {
		t.limited = nil
		t.attention.after(0, timerLimit)
	}
}

// failed is the failure of a turn that codex has ended.
func (t *turn) failed(failed *appserver.TurnError, tools bool) *agent.Failure {
	if t.refused = t.refusalOf(failed); t.refused != nil {
		return t.refused.Failure(tools)
	}
	if failed != nil {
		t.unreadable, t.httpStatus = isUnreadable(failed), statusOf(failed)
	}
	return t.d.modelFailure(failed)
}

// statusOf returns the status of HTTP that an error is about, or 0. One that codex has no name for only
// its words have (seen on 0.169.0).
func statusOf(failed *appserver.TurnError) int {
	name, status := failed.Code()
	if name == "other" {
		_, _ = fmt.Sscanf(failed.Message, "unexpected status %d", &status)
	}
	return status
}

// isUnreadable reports whether the provider has refused to read what it was asked, and would do so again.
// codex calls a status 400 badRequest or other, and says no more of it than the provider does. A link that
// was cut is other, too (seen on 0.169.0).
func isUnreadable(failed *appserver.TurnError) bool {
	status := statusOf(failed)
	if status == 0 {
		name, _ := failed.Code()
		cut := strings.HasPrefix(failed.Message, "stream disconnected")
		return !cut && slices.Contains([]string{"badRequest", "cyberPolicy", "other"}, name)
	}
	return slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, status)
}

// rateLimited reports whether words are codex's own about a rate limit that came
// in the stream: it has no name for it while it tries again.
func rateLimited(words string) bool {
	return strings.HasPrefix(words, "rate limit exceeded: ")
}
