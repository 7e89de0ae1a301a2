package inquiry

import (
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
)

// Bounds of what is kept of the changes that subagents have begun. One that has no room is
// not known, and so not asked about.
const (
	mostAgentBytes   = 16 << 20 // of all of them
	mostAgentChanges = 64       // patches of one subagent
)

// subagents are those at work, by their threads. Desk.mu guards them.
type subagents struct {
	at    map[string]*subagent
	bytes int // of the changes that are kept

	done   map[string]string // by thread: the turn that runs, for which it has worked and does no more
	barred map[string]bool   // turns of ours that were ended; what begins for them is ended, too
}

// A subagent is one while a turn of it runs.
type subagent struct {
	root    string                            // the turn of ours that it works for
	turn    string                            // its own
	open    map[items.Call]bool               // what is asked about by its begin
	session string                            // the thread that its conversation began with; empty until it was asked for
	changes map[string][]appserver.FileChange // by item: what it is about to write, which a question of codex's does not say
	calls   items.Calls
}

func newAgents() subagents {
	return subagents{at: map[string]*subagent{}, done: map[string]string{}, barred: map[string]bool{}}
}

// begin notes that a subagent is at work.
func (a *subagents) begin(threadID, root, turn string) {
	a.end(threadID)
	delete(a.done, threadID)
	a.at[threadID] = &subagent{root: root, turn: turn, open: map[items.Call]bool{}, changes: map[string][]appserver.FileChange{}, calls: items.Calls{}}
}

func (a *subagents) end(threadID string) {
	if one := a.at[threadID]; one != nil {
		for itemID := range one.changes {
			a.forget(threadID, itemID)
		}
		delete(a.at, threadID)
	}
}

// started reports whether the item has the id of another that is open and may be taken for it.
func (a *subagents) started(threadID string, item appserver.Item) (twice bool) {
	begun := items.CallOf(item)
	if one := a.at[threadID]; one != nil && begun.IsAsked() {
		twice = one.open[begun]
		one.open[begun] = true
		one.calls.Started(item)
	}
	if item.Type == appserver.ItemFileChange {
		a.keep(threadID, item)
	}
	return twice
}

func (a *subagents) completed(threadID string, item appserver.Item) {
	if one := a.at[threadID]; one != nil {
		delete(one.open, items.CallOf(item))
		one.calls.Completed(item)
	}
	if item.Type == appserver.ItemFileChange {
		a.forget(threadID, item.ID)
	}
}

func (a *subagents) keep(threadID string, item appserver.Item) {
	a.forget(threadID, item.ID) // what it was is not what it is
	one, size := a.at[threadID], weight(item.Changes)
	if one == nil || len(one.changes) >= mostAgentChanges || a.bytes+size > mostAgentBytes {
		return
	}
	one.changes[item.ID] = item.Changes
	a.bytes += size
}

func (a *subagents) forget(threadID, itemID string) {
	if one := a.at[threadID]; one != nil {
		a.bytes -= weight(one.changes[itemID])
		delete(one.changes, itemID)
	}
}

func weight(changes []appserver.FileChange) (bytes int) {
	const each = 128 // of the change itself
	for _, c := range changes {
		bytes += each + len(c.Path) + len(c.Kind.Type) + len(c.Kind.MovePath) + len(c.Diff)
	}
	return bytes
}

// mostBarred bounds the turns that codex is not to begin anything for. Past it all are
// forgotten: what begins for them does so within milliseconds of their end, or never.
const mostBarred = 256

// bar has what begins for a turn from now on end at once.
func (a *subagents) bar(root string) {
	if len(a.barred) >= mostBarred {
		clear(a.barred)
	}
	a.barred[root] = true
}

// forgetDone lets go of the subagents that have worked for a turn which has ended.
func (a *subagents) forgetDone(ended func(turnID string) bool) {
	for thread, root := range a.done {
		if ended(root) {
			delete(a.done, thread)
		}
	}
}
