package executor

import (
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// Health is what the executor can say about itself.
type Health struct {
	Child   ChildHealth `json:"child"`
	Running int         `json:"running"` // turns that are begun, those included that wait for answers
	Waiting int         `json:"waiting"` // jobs whose turns are not
	Threads int         `json:"threads"` // threads loaded in the agent
	Bytes   int64       `json:"bytes"`   // of all jobs that have not ended, as Job.Size counts them

	Slots     Slots `json:"slots"`
	Questions int   `json:"questions"` // that wait for their answers

	Hold    *Hold         `json:"hold,omitempty"`    // why no turn is started; nil if they are
	Limits  []agent.Limit `json:"limits,omitempty"`  // of the account, as far as the agent has said
	Account *Account      `json:"account,omitempty"` // that the agent is logged in with; nil if that is not known
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

// Health reports the state of the agent and of the queues.
func (e *Executor) Health() Health {
	of := e.driver.Health()
	h := Health{Child: of.Child, Threads: of.Threads, Questions: of.Questions, Limits: of.Limits, Account: of.Account}
	if now := e.hold.look(); now.cause != nil {
		h.Hold = &Hold{Kind: now.cause.Kind, Reason: now.cause.Why, Since: now.since, Limit: now.cause.Limit, Until: now.until}
	}
	h.Slots = e.slots.standing()
	h.Running = h.Slots.begun()
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
	case now.cause.Kind == agent.FailLimit:
		return now.cause.Why + now.cause.ending()
	default:
		return "the model refuses the credential (" + now.cause.Why + ")" + fixSaid
	}
}

// A Shown is what a driver can say about its agent.
type Shown interface {
	// Ping returns when the agent has answered, and at once where none runs.
	Ping(ctx context.Context) error
	Health() AgentHealth
	// Overview is [Executor.Overview], as far as it is the driver's.
	Overview() Overview
}

// AgentHealth is what a driver can say about its agent for [Health].
type AgentHealth struct {
	Child     ChildHealth
	Threads   int
	Questions int
	Limits    []agent.Limit
	Account   *Account
}

// ChildHealth is the state of the agent's process.
type ChildHealth struct {
	State    string     `json:"state"` // down, starting, ready, stopping, backoff, closed
	Since    time.Time  `json:"since"`
	Pid      int        `json:"pid,omitempty"`
	Version  string     `json:"version,omitempty"` // of the agent, as it says itself
	Restarts int        `json:"restarts"`
	Stats    ChildStats `json:"stats"`           // what was skipped and dropped of its output
	Error    string     `json:"error,omitempty"` // why the last start failed or the last child ended
}

// ChildStats counts what of the output of an agent's process was not used.
type ChildStats struct {
	NoiseLines    uint64 `json:"noiseLines"`    // lines that were no message, and skipped
	LongLines     uint64 `json:"longLines"`     // lines that were longer than allowed, and dropped
	DeltasDropped uint64 `json:"deltasDropped"` // deltas that found their thread's queue full
	LateAnswers   uint64 `json:"lateAnswers"`   // answers to no call, or to one whose caller had gone
}

// Account is the login of the agent, as far as everybody may know it.
type Account struct {
	Kind string `json:"kind"` // apiKey, chatgpt, …; or one of the constants below
	Plan string `json:"plan,omitempty"`
}

// Kinds of an [Account] that is none.
const (
	AccountNone     = "none"     // the agent has no login
	AccountProvider = "provider" // the agent needs none: the model's provider does not ask for it
)

// Ping asks the agent, if one runs, for a sign of life within the time of ctx: [Executor.Health] says why there is none.
func (e *Executor) Ping(ctx context.Context) error { return e.driver.Ping(ctx) }
