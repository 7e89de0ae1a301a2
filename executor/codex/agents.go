package codex

import (
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
)

// Bounds of what is kept of the changes that subagents have begun. One that has no room is
// not known, and so not asked about.
const (
	mostAgentBytes   = 16 << 20 // of all of them
	mostAgentChanges = 64       // patches of one subagent
)

// subagents are those at work, by their threads. driver.mu guards them.
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

// followAgent remembers for which turn of ours a subagent works, while it does. One that
// begins for a turn that was ended, because it was on its way then, is ended.
func (d *Driver) followAgent(note appserver.Notification) {
	var n appserver.TurnNote
	if json.Unmarshal(note.Params, &n) != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if note.Method != appserver.NoteTurnStarted || n.Turn.RootTurnID == "" {
		if one := d.agents.at[n.ThreadID]; one != nil && d.runsLocked(one.root) {
			d.agents.done[n.ThreadID] = one.root
		}
		d.agents.end(n.ThreadID)
		return
	}
	root := n.Turn.RootTurnID
	d.agents.begin(n.ThreadID, root, n.Turn.ID)
	if d.agents.barred[root] && !d.closed { // rest waits for d.wg after it has set closed
		d.wg.Go(func() { d.endLate(root) })
	}
}

// agentItem keeps what a subagent is about to write, until that is done, and notes two calls with
// one id.
func (d *Driver) agentItem(note appserver.Notification) {
	var n appserver.ItemNote
	if json.Unmarshal(note.Params, &n) != nil || !d.calledTwice(n, note.Method == appserver.NoteItemStarted) {
		return
	}
	if in := d.inquiryOf(note.ThreadID); in != nil {
		in.doubt()
	}
}

// calledTwice notes an item of a thread that nobody follows, and reports whether it may be a
// subagent's second call with one id: one that is too long to be kept may be that of any number.
func (d *Driver) calledTwice(n appserver.ItemNote, started bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed { // as in followAgent
		d.wg.Go(func() { d.onItem(items.Of(n.Item)) })
	}
	switch {
	case d.agents.at[n.ThreadID] == nil: // of a turn that was cut
		return false
	case len(n.Item.ID) > items.MostID:
		return true
	case started:
		return d.agents.started(n.ThreadID, n.Item)
	}
	d.agents.completed(n.ThreadID, n.Item)
	return false
}

// changesOfAgent returns what a subagent is about to write; nil if that is not known.
func (d *Driver) changesOfAgent(threadID, itemID string) []appserver.FileChange {
	d.mu.Lock()
	defer d.mu.Unlock()
	if one := d.agents.at[threadID]; one != nil {
		return one.changes[itemID]
	}
	return nil
}

// calledByAgent reports whether a subagent has begun such a call of an MCP server's tool.
func (d *Driver) calledByAgent(threadID string, call ask.Call) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.agents.at[threadID]
	return one != nil && one.calls.Has(call)
}
