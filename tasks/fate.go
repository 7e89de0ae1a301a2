package tasks

import (
	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// A fate is what becomes of a message.
type fate struct {
	turn  string // of the values of [keys.Turn]; empty while it is not known
	ahead int
}

// meta is the fate as the task's metadata have it.
func (f fate) meta() map[string]any {
	meta := map[string]any{keys.Turn: nil, keys.Ahead: nil}
	if f.turn != "" {
		meta[keys.Turn] = f.turn
	}
	if f.turn == keys.TurnQueued {
		meta[keys.Ahead] = f.ahead
	}
	return meta
}

func queued(ahead int) fate {
	if ahead == 0 {
		return fate{turn: keys.TurnStarted}
	}
	return fate{turn: keys.TurnQueued, ahead: ahead}
}

// decide says what became of a message to a running turn. Codex may change its
// mind: a turn that has taken a message can be cut off before it got to it.
func (r *run) decide(f fate) {
	r.fate = f
	r.tellFate(f)
	if r.known != nil {
		close(r.known)
		r.known = nil
	}
}

// tellFate publishes what became of the message, if it is the task's newest.
func (r *run) tellFate(f fate) {
	t := r.task
	if !t.newest(r) {
		return
	}
	t.note(f.meta())
	t.publish(&a2a.TaskStatusUpdateEvent{TaskID: t.id, ContextID: t.contextID, Status: t.status, Metadata: t.meta})
}

// newest reports whether no message came after that of r.
func (t *state) newest(r *run) bool { return len(t.runs) > 0 && t.runs[len(t.runs)-1] == r }
