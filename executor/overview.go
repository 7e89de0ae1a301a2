package executor

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// An Overview is what a person who looks is shown beside [Health].
type Overview struct {
	Model         string         // that answers, as far as that is known
	Email         string         // of the account that the agent is logged in with
	Login         *OpenLogin     // nil if there is none to be carried out
	Conversations []Conversation // those whose turn runs, then those that wait, then the ones used last
	MaxTurns      int            // that may run at the same time
}

// An OpenLogin is a device code that waits to be entered. It is for whoever may log
// the agent in.
type OpenLogin struct {
	URL, Code string
	Expires   time.Time
}

// A Conversation is how a context stands that is in use, or whose thread is loaded.
type Conversation struct {
	Context  string
	Thread   string       // "" if it has none yet
	Loaded   bool         // in the present child
	Usage    *agent.Usage // of its thread in all; nil if the agent has not said so
	LastUsed time.Time
	Running  string   // the job whose turn runs, "" if none does
	Waiting  []string // the jobs that wait, in their order
}

// Overview is for a person's eyes: it is made anew each time, and costs a look at every
// conversation that is known.
func (e *Executor) Overview() Overview {
	o := e.driver.Overview()
	o.MaxTurns = e.cfg.MaxTurns
	if e.hold.look().shown == nil {
		o.Login = nil
	}
	o.Conversations = e.withJobs(o.Conversations)
	slices.SortFunc(o.Conversations, func(a, b Conversation) int {
		return cmp.Or(b.rank()-a.rank(), b.LastUsed.Compare(a.LastUsed), cmp.Compare(a.Context, b.Context))
	})
	return o
}

// withJobs adds the jobs to the conversations that they are of. Each message that comes waits for the
// lock, so nothing more is done under it.
func (e *Executor) withJobs(of []Conversation) []Conversation {
	known := make(map[string]Conversation, len(of))
	for _, o := range of {
		known[o.Context] = o
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, q := range e.queues {
		o := known[key]
		o.Context = key
		q.overviewLocked(&o)
		known[key] = o
	}
	return slices.Collect(maps.Values(known))
}

// rank is what a person wants to see first.
func (c Conversation) rank() int {
	switch {
	case c.Running != "":
		return 2
	case len(c.Waiting) > 0:
		return 1
	}
	return 0
}

// overviewLocked adds the jobs of q.
func (q *queue) overviewLocked(o *Conversation) {
	switch j := q.current; {
	case j == nil || j.stage == stageTold || j.stage == stageGone:
	case j.stage == stageRunning || j.stage == stageClosing:
		o.Running = j.ID
	default: // for a slot, or for the model
		o.Waiting = append(o.Waiting, j.ID)
	}
	for _, j := range q.jobs {
		o.Waiting = append(o.Waiting, j.ID)
	}
}
