package executor

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// Health is what the executor can say about itself.
type Health struct {
	Child   ChildHealth `json:"child"`
	Running int         `json:"running"` // turns that are begun, those included that wait for answers
	Waiting int         `json:"waiting"` // jobs whose turns are not
	Threads int         `json:"threads"` // threads loaded in codex
	Bytes   int64       `json:"bytes"`   // of all jobs that have not ended, as Job.Size counts them

	Slots     Slots `json:"slots"`
	Questions int   `json:"questions"` // that wait for their answers

	Hold    *Hold         `json:"hold,omitempty"`    // why no turn is started; nil if they are
	Limits  []agent.Limit `json:"limits,omitempty"`  // of the account, as far as codex has said
	Account *Account      `json:"account,omitempty"` // that codex is logged in with; nil if that is not known
}

// A Hold says why no turn is started. It holds nothing that a login needs: that
// is for the user who sends a message.
type Hold struct {
	Kind   agent.FailureKind `json:"kind"` // FailAuth or FailLimit
	Reason string            `json:"reason"`
	Since  time.Time         `json:"since"`
	Limit  string            `json:"limit,omitempty"`
	Until  time.Time         `json:"until,omitzero"` // when the limit ends, or is looked at again
}

// fixSaid is where the user reads what to do about a credential that is refused.
const fixSaid = "; the answer to a message of the user's says what to do"

// Words are the reason, and where it is said what to do, if that has to be done.
func (h *Hold) Words() string {
	if h.Kind == agent.FailAuth {
		return h.Reason + fixSaid
	}
	return h.Reason
}

// Health reports the state of the child and of the queues.
func (e *Executor) Health() Health {
	on, child := e.child.health()
	h := Health{Child: child, Limits: e.limits.list(), Account: e.accountHealth()}
	if now := e.hold.look(); now.cause != nil {
		h.Hold = &Hold{Kind: now.cause.kind, Reason: now.cause.why, Since: now.since, Limit: now.cause.limit, Until: now.until}
	}
	for _, in := range e.openInquiries() {
		open, _ := in.standing()
		h.Questions += open
	}
	h.Slots = e.slots.standing()
	h.Running = h.Slots.begun()
	h.Threads = e.loadedThreads(on)
	e.mu.Lock()
	defer e.mu.Unlock()
	h.Waiting, h.Bytes = e.waiting, e.budget.all
	return h
}

// Held says why no turn is started, "" if they are. It holds nothing that a login
// needs: that is for the user who waits.
func (e *Executor) Held() string {
	switch now := e.hold.look(); {
	case now.cause == nil:
		return ""
	case now.cause.kind == agent.FailLimit:
		return now.cause.why + now.cause.ending()
	default:
		return "the model refuses the credential (" + now.cause.why + ")" + fixSaid
	}
}
