package failure

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// What codex says in an error or a warning can be what the model's endpoint has answered, or what
// a command has written into its configuration, of any length. It goes into the log, the task's
// status and the journal.
const (
	mostWords = 4 << 10
	mostRead  = 64 << 10 // of it, in which secrets are looked for
)

// A Reader reads the errors of one codex. Its methods may be called concurrently.
type Reader struct {
	Limits Limits
	redact func(string) string
}

// NewReader returns a reader that takes secrets out by redact.
func NewReader(redact func(string) string) *Reader { return &Reader{redact: redact} }

// Words are those of codex in an error or a warning, as others may have them.
func (r *Reader) Words(text string) string {
	return brief.Clip(brief.Cleared(text, mostRead, r.redact), mostWords)
}

// Refusal returns what of an error of codex is a refusal, or nil.
func (r *Reader) Refusal(failed *appserver.TurnError) *executor.Refusal {
	if failed == nil {
		return nil
	}
	name, status := failed.Code()
	words := failed.Message
	if name == "responseStreamDisconnected" && failed.AdditionalDetails != "" {
		words = failed.AdditionalDetails // the message counts codex's retries
	}
	kind := kindOf(name, status, words)
	if kind != agent.FailAuth && kind != agent.FailLimit {
		return nil
	}
	refused := &executor.Refusal{Kind: kind, Code: name, Status: status, Usage: name == UsageLimit, Why: sayable(r.Words(words))}
	if kind == agent.FailLimit {
		refused.Limit, refused.Until = r.limitReached(name, words)
		if refused.Until = reset(refused.Until, time.Now()); !refused.Until.After(time.Now()) { // a clock is wrong, theirs or ours
			refused.Until = time.Time{}
		}
	}
	return refused
}

// limitReached returns the name of the limit that an error is about, and its end.
func (r *Reader) limitReached(code, words string) (name string, until time.Time) {
	now := time.Now()
	if code == UsageLimit {
		if window, ok := r.Limits.reached(now); ok {
			return window.Name, window.ResetsAt
		}
		return "usage", resetInWords(words, now)
	}
	return "rate", resetInWords(words, now)
}

// Failure says why the model or codex ended a turn, and what to do.
func (r *Reader) Failure(failed *appserver.TurnError) *agent.Failure {
	if failed == nil {
		return &agent.Failure{Kind: agent.FailModel, Message: "codex failed without saying why"}
	}
	name, status := failed.Code()
	f := &agent.Failure{Kind: kindOf(name, status, failed.Message), Code: name, Message: sayable(r.Words(endpointWords(failed.Message)))}
	if f.Kind == agent.FailContext { // the others need no advice
		f.Message += ". This conversation is full: send the message with a new contextId"
	}
	return f
}
