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
	Email         string         // of the account that codex is logged in with
	Login         *OpenLogin     // nil if there is none to be carried out
	Conversations []Conversation // those whose turn runs, then those that wait, then the ones used last
	MaxTurns      int            // that may run at the same time
}

// An OpenLogin is a device code that waits to be entered. It is for whoever may log
// codex in.
type OpenLogin struct {
	URL, Code string
	Expires   time.Time
}

// A Conversation is how a context stands that is in use, or whose thread is loaded.
type Conversation struct {
	Context  string
	Thread   string       // "" if it has none yet
	Loaded   bool         // in the present child
	Usage    *agent.Usage // of its thread in all; nil if codex has not said so
	LastUsed time.Time
	Running  string   // the job whose turn runs, "" if none does
	Waiting  []string // the jobs that wait, in their order
}

// Overview is for a person's eyes: it is made anew each time, and costs a look at every
// conversation that is known.
func (e *Executor) Overview() Overview {
	on, _ := e.child.health()
	status, _ := e.account.last()
	o := Overview{MaxTurns: e.cfg.MaxTurns, Login: e.openLogin()}
	if status.Account != nil {
		o.Email = status.Account.Email
	}
	o.Conversations, o.Model = e.overviews(on)
	slices.SortFunc(o.Conversations, func(a, b Conversation) int {
		return cmp.Or(b.rank()-a.rank(), b.LastUsed.Compare(a.LastUsed), cmp.Compare(a.Context, b.Context))
	})
	if on != nil {
		o.Model = cmp.Or(on.launch.Model, o.Model)
	}
	return o
}

// overviews are those of all conversations, and the model of the one that was used last.
// Whoever sends a message waits for the locks, so there is nothing more done under them.
func (e *Executor) overviews(on *child) (all []Conversation, model string) {
	known, model := e.driver.overviews(on)
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, q := range e.queues {
		o := known[key]
		o.Context = key
		q.overviewLocked(&o)
		known[key] = o
	}
	return slices.Collect(maps.Values(known)), model
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
	case j == nil || j.told:
	case j.turned:
		o.Running = j.ID
	default: // for a slot, or for the model
		o.Waiting = append(o.Waiting, j.ID)
	}
	for _, j := range q.jobs {
		o.Waiting = append(o.Waiting, j.ID)
	}
}

// overviews are those of the conversations whose threads this process knows, by their contexts, and
// the model of the one that was used last.
func (d *driver) overviews(on *child) (all map[string]Conversation, model string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	all = make(map[string]Conversation, len(d.conversations))
	var latest time.Time
	for _, c := range d.conversations {
		all[c.key] = Conversation{
			Context: c.key, Thread: c.shown.thread, Loaded: on != nil && c.loadedIn == on, LastUsed: c.lastUsed, Usage: c.spent.Load(),
		}
		if c.shown.model != "" && !c.lastUsed.Before(latest) {
			model, latest = c.shown.model, c.lastUsed
		}
	}
	return all, model
}

// shownThread is what is shown of the thread of a conversation to those who do not hold
// its lock.
type shownThread struct{ thread, model string }

// openLogin is the login that the jobs that wait are told of.
func (e *Executor) openLogin() *OpenLogin {
	shown := e.hold.look().shown
	if shown == nil || shown.login == nil || shown.login.over() {
		return nil
	}
	l := shown.login
	return &OpenLogin{URL: l.VerificationURL, Code: l.UserCode, Expires: l.since.Add(loginLasts)}
}
