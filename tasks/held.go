package tasks

import (
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/late"
)

// hold notes that the model would refuse the run, and why.
func (r *run) hold(held agent.Paused) {
	r.waits = &held
	if r.task.runs[0] == r {
		r.task.stand()
	}
}

// release notes that the run is held no more.
func (r *run) release() {
	r.waits = nil
	if r.task.runs[0] == r {
		r.task.stand()
	}
}

// stand brings the task into the state that its foremost turn makes of it while that is held: for a
// login it needs its caller, the end of a limit it only waits for. A turn behind it has no say.
func (t *state) stand() {
	held := t.runs[0].waits
	t.standLimit(held)
	switch {
	case held != nil && held.Kind == agent.FailAuth:
		t.runs[0].pushRest()
		t.tellUser()
		t.enter(a2a.TaskStateAuthRequired, t.heldMessage(held), store.Change{Durable: true})
	case t.status.State != a2a.TaskStateAuthRequired:
	case t.runs[0].started.IsZero():
		t.enter(a2a.TaskStateSubmitted, nil, store.Change{})
	default:
		t.enter(a2a.TaskStateWorking, nil, store.Change{})
	}
}

// PeerWaits tells the user of a login that only another agent's message waits for. What is to
// be done stands in the answer to the user alone.
const PeerWaits = "The model needs a login or a key, and a message of another agent, or of a chat, waits for it. Send a message here: the answer says what to do."

// tellUser has the user told of a login that another agent's message waits for, once a day. A state is
// about to be committed.
func (t *state) tellUser() {
	e := t.engine
	w := e.cfg.Workspace
	if w == nil || w.Wake == nil || !t.forPeer(t.runs[0].from) || !e.peerWaits.rarely(24*time.Hour) {
		return
	}
	t.send(store.Delivery{Kind: late.Kind, Body: codec.Encode(late.Reply{Text: PeerWaits}), Replaces: true})
}

// standLimit says in the metadata that the task waits for the end of a limit.
func (t *state) standLimit(held *agent.Paused) {
	_, said := t.meta[keys.Held]
	switch limited := held != nil && held.Kind != agent.FailAuth; {
	case limited:
		t.note(map[string]any{keys.Held: held.Data})
		t.announce(store.Change{})
		t.tell(map[string]any{"type": "notice", "text": held.Text})
	case said:
		t.note(map[string]any{keys.Held: nil})
		t.announce(store.Change{})
	}
}

func (t *state) heldMessage(held *agent.Paused) *a2a.Message {
	parts := []*a2a.Part{a2a.NewTextPart(held.Text)}
	if held.Data != nil {
		parts = append(parts, a2a.NewDataPart(held.Data))
	}
	return t.message(parts...)
}
