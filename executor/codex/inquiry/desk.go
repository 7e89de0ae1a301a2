package inquiry

import (
	"maps"
	"slices"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A Desk finds the attempt that something of codex is for, by its thread: an attempt has one, and each of
// its subagents.
type Desk struct {
	bounds Bounds

	mu     sync.Mutex          // guards the fields below; Inquiry.mu is taken under it
	open   map[string]*Inquiry // by the thread on which an attempt is made
	agents subagents
}

// NewDesk returns a desk on which nothing is asked.
func NewDesk(within Bounds) *Desk {
	return &Desk{bounds: within, open: map[string]*Inquiry{}, agents: newAgents()}
}

// Open begins to take questions of a thread for an attempt.
func (d *Desk) Open(threadID string, of executor.Order, wake func()) *Inquiry {
	in := newInquiry(threadID, of, d.bounds, wake)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open[threadID] = in
	return in
}

// Close takes no more questions of an attempt, and knows nothing more of its subagents. It returns the
// questions that are left, and the ids of those that are open for all that the observer knows.
func (d *Desk) Close(in *Inquiry) (left []*Question, posed []string) {
	d.mu.Lock()
	if d.open[in.ThreadID] == in {
		delete(d.open, in.ThreadID)
		d.agents.forgetDone(in.IsOf)
	}
	d.mu.Unlock()
	return in.close()
}

// On finds the attempt that is made on a thread; nil if there is none.
func (d *Desk) On(threadID string) *Inquiry {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[threadID]
}

// Of finds the attempt that a request of a thread belongs to, also that of
// a subagent; nil if there is none.
func (d *Desk) Of(threadID string) *Inquiry {
	d.mu.Lock()
	defer d.mu.Unlock()
	if in := d.open[threadID]; in != nil {
		return in
	}
	one := d.agents.at[threadID]
	for _, in := range d.open {
		if one != nil && in.IsOf(one.root) {
			return in
		}
	}
	return nil
}

// All are those that are open.
func (d *Desk) All() []*Inquiry {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Values(d.open))
}

// runsLocked reports whether a turn of ours runs.
func (d *Desk) runsLocked(turnID string) bool {
	for _, in := range d.open {
		if in.IsOf(turnID) {
			return true
		}
	}
	return false
}
