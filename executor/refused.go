package executor

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A refusal is why the model's provider does not answer: it refuses the credential,
// or a limit is reached. That concerns all who come with our credential, or one job
// alone, see [refusal.alone]. It is the cause for which a turn is ended at the first
// sign of it: codex would go on trying, at a 401 for 6.5 s.
type refusal struct {
	kind   agent.FailureKind // FailAuth or FailLimit
	code   string            // codex's name of the error
	why    string            // in codex's words, fit for whoever sent the message
	status int               // of HTTP, or 0
	limit  string            // the name of the limit
	until  time.Time         // when the limit ends, by the wall clock; zero if it is not known
	model  string            // that was asked, where the job had named another than its thread has; else empty
	unsure bool              // the model of the turn before may have been asked, which may be another
}

func (r *refusal) Error() string { return r.why }

// refusalOf returns what of an error of codex is a refusal, or nil.
func (d *driver) refusalOf(failed *appserver.TurnError) *refusal {
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
	r := &refusal{kind: kind, code: name, status: status, why: sayable(d.words(words))}
	if kind == agent.FailLimit {
		r.limit, r.until = d.limitReached(name, words)
		if r.until = reset(r.until, time.Now()); !r.until.After(time.Now()) { // a clock is wrong, theirs or ours
			r.until = time.Time{}
		}
	}
	return r
}

// usageLimit is codex's name of the error where the account's allowance is used up.
const usageLimit = "usageLimitExceeded"

// limitReached returns the name of the limit that an error is about, and its end.
func (d *driver) limitReached(code, words string) (name string, until time.Time) {
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
func (t *turn) refusalOf(failed *appserver.TurnError) *refusal {
	r := t.d.refusalOf(failed)
	if r != nil {
		r.model, r.unsure = t.c.otherModel(t.options), t.unsure
	}
	return r
}

// failure is what whoever sent the message is told.
func (r *refusal) failure(tools bool) *agent.Failure {
	f := &agent.Failure{Kind: r.kind, Code: r.code, Message: r.why, Limit: r.limit, ResetsAt: r.until}
	if r.kind == agent.FailLimit {
		f.Message += r.ending()
	} else {
		f.Message += ". The model's provider refused the credential, or got none: check OPENAI_API_KEY, or log codex in"
	}
	if r.model != "" {
		f.Message += ". This may be about the model that the message names; without it the message may run"
	}
	if r.kind == agent.FailAuth && tools {
		f.Message += ". This came in the middle of the turn, after tools had run: look at what is done, and then send a message to go on"
	}
	return f
}

// ending says when the limit ends, if that is known.
func (r *refusal) ending() string {
	if r.until.IsZero() {
		return ". It is not known when this limit ends; try again in a minute"
	}
	return fmt.Sprintf(". The limit (%s) ends at %s", r.limit, r.until.UTC().Format(time.RFC3339))
}

// limitGrace is what codex gets to be answered again after a rate limit that it
// tries to wait out: a limit that ends in a second must not cost a long turn.
const limitGrace = 5 * time.Second

// troubled acts on an error that codex tells of in the middle of a turn.
func (t *turn) troubled(n appserver.ErrorNote) {
	r := t.refusalOf(&n.Error)
	if r == nil || !n.WillRetry {
		if n.WillRetry {
			t.to.tell(agent.Notice{Text: "codex tries again: " + t.d.words(n.Error.Message)})
		}
		return // the end of the turn says the same
	}
	if t.stopping != nil {
		return
	}
	rate := r.kind == agent.FailLimit && r.code != usageLimit
	if rate && (r.until.IsZero() || time.Until(r.until) < limitGrace) {
		t.to.tell(agent.Notice{Text: "The model's provider asks to wait: " + r.why})
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
		return t.refused.failure(tools)
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
