package inquiry

import (
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/ask"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
)

// AgentsTurn remembers for which turn of ours a subagent works, while it does. Late is that turn where it was
// ended before, because the subagent was on its way then: it is to be ended, too.
func (d *Desk) AgentsTurn(note appserver.Notification) (late string) {
	var n appserver.TurnNote
	if json.Unmarshal(note.Params, &n) != nil {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if note.Method != appserver.NoteTurnStarted || n.Turn.RootTurnID == "" {
		if one := d.agents.at[n.ThreadID]; one != nil && d.runsLocked(one.root) {
			d.agents.done[n.ThreadID] = one.root
		}
		d.agents.end(n.ThreadID)
		return ""
	}
	root := n.Turn.RootTurnID
	d.agents.begin(n.ThreadID, root, n.Turn.ID)
	if d.agents.barred[root] {
		return root
	}
	return ""
}

// AgentsItem keeps what a subagent is about to write, until that is done, and notes two calls with
// one id. It returns the item, if the notification has one.
func (d *Desk) AgentsItem(note appserver.Notification) (item appserver.Item, ok bool) {
	var n appserver.ItemNote
	if json.Unmarshal(note.Params, &n) != nil {
		return item, false
	}
	if d.calledTwice(n, note.Method == appserver.NoteItemStarted) {
		if in := d.Of(note.ThreadID); in != nil {
			in.Doubt()
		}
	}
	return n.Item, true
}

// calledTwice notes an item of a thread that is not followed, and reports whether it may be a
// subagent's second call with one id: one that is too long to be kept may be that of any number.
func (d *Desk) calledTwice(n appserver.ItemNote, started bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
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

// TurnOfAgent is the turn of a subagent's thread that runs; empty if none does.
func (d *Desk) TurnOfAgent(threadID string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if one := d.agents.at[threadID]; one != nil {
		return one.turn
	}
	return ""
}

// ChangesOfAgent returns what a subagent is about to write; nil if that is not known.
func (d *Desk) ChangesOfAgent(threadID, itemID string) []appserver.FileChange {
	d.mu.Lock()
	defer d.mu.Unlock()
	if one := d.agents.at[threadID]; one != nil {
		return one.changes[itemID]
	}
	return nil
}

// CalledByAgent reports whether a subagent has begun such a call of an MCP server's tool.
func (d *Desk) CalledByAgent(threadID string, call ask.Call) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	one := d.agents.at[threadID]
	return one != nil && one.calls.Has(call)
}

// AgentsOf returns the subagents that work, or have worked, for the turn root, and those that
// work in the session, with the turns of those at work. What begins for the same turns from
// now on is ended too.
func (d *Desk) AgentsOf(root, session string) (turns map[string]string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if root != "" {
		d.agents.bar(root)
	}
	found := map[string]string{}
	for thread, of := range d.agents.done {
		if of == root {
			found[thread] = ""
		}
	}
	for thread, a := range d.agents.at {
		if a.root == root || session != "" && a.session == session {
			found[thread] = a.turn
			d.agents.bar(a.root)
		}
	}
	return found
}

// AgentsWork reports whether a subagent that is known to be of the session works.
func (d *Desk) AgentsWork(session string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, a := range d.agents.at {
		if a.session == session {
			return true
		}
	}
	return false
}

// Strangers are the threads of subagents at work of which it is not known whose they are.
func (d *Desk) Strangers(root, session string) (threads []string) {
	if session == "" {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for thread, a := range d.agents.at {
		if a.root != root && a.session == "" && !d.runsLocked(a.root) {
			threads = append(threads, thread)
		}
	}
	return threads
}

// LearnSession notes in which session a subagent works, if it still does.
func (d *Desk) LearnSession(threadID, session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a := d.agents.at[threadID]; a != nil {
		a.session = session
	}
}

// ForgetAgents is for the end of codex, with which all of them end.
func (d *Desk) ForgetAgents() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.agents = newAgents()
}
