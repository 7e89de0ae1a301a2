package tasks

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/late"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/requests"
)

// answerGrace is how long the callers who wait for an answer have to get it. It counts
// only when this process dies in between; else they are asked.
const answerGrace = time.Minute

// owe puts the reply of a task into the outbox, whose state is about to be committed. What stood there
// of the task before is taken out. Before is the state that it had: a login is asked for once, however
// often its code changes.
func (t *state) owe(before a2a.TaskState) {
	state := t.status.State
	if !t.owed || !state.Terminal() && !reply.NeedsCaller(state) || state == a2a.TaskStateAuthRequired && before == state {
		return
	}
	reply := reply.Of(t.snapshot())
	if reply == nil {
		return
	}
	t.recall()
	d := store.Delivery{Kind: late.Kind, Body: codec.Encode(lateOf(reply)), Replaces: true}
	if t.waiters.Load() > 0 {
		d.Due = time.Now().Add(answerGrace)
	}
	t.send(d)
}

// recall takes the reply out of what is still to be committed.
func (t *state) recall() {
	t.rec.outbox = slices.DeleteFunc(t.rec.outbox, func(d store.Delivery) bool { return d.Kind == late.Kind })
}

func lateOf(reply *a2a.Message) late.Reply {
	out := late.Reply{ID: reply.ID}
	var texts []string
	for _, p := range reply.Parts {
		switch c := p.Content.(type) {
		case a2a.Text:
			texts = append(texts, string(c))
		case a2a.URL:
			out.Files = append(out.Files, late.File{URI: string(c), Name: p.Filename, MediaType: p.MediaType})
		}
	}
	out.Text = strings.Join(texts, "\n\n")
	return out
}

// wakeFor wakes those who make deliveries that have just been committed.
func (e *Engine) wakeFor(outbox []store.Delivery) {
	replies, pushes := false, false
	for _, d := range outbox {
		switch d.Kind {
		case late.Kind:
			replies = true
		case requests.Kind:
			e.cfg.Workspace.Requests()
		default:
			pushes = true
		}
	}
	if pushes && e.cfg.Push != nil {
		e.cfg.Push.Wake()
	}
	if replies {
		e.wakeLate()
	}
}

func (e *Engine) wakeLate() {
	if w := e.cfg.Workspace; w != nil && w.Wake != nil {
		w.Wake()
	}
}

// heard takes the reply of a task out of the outbox: its caller has got it.
func (e *Engine) heard(id a2a.TaskID, t *task) {
	if t != nil {
		t.lock()
		t.recall()
		t.unlock()
	}
	if err := e.cfg.Journal.WithdrawDeliveries(context.Background(), late.Kind, string(id)); err != nil {
		e.log.Error("a reply that has arrived could not be noted; the user may see it twice", "task_id", id, "err", err)
	}
}

// unheard has the reply of a task delivered now: nobody waits for it any more.
func (e *Engine) unheard(id a2a.TaskID, t *task) {
	if t != nil {
		t.lock()
		for i := range t.rec.outbox {
			if t.rec.outbox[i].Kind == late.Kind {
				t.rec.outbox[i].Due = time.Time{}
			}
		}
		t.unlock()
	}
	if err := e.cfg.Journal.ExpediteDeliveries(context.Background(), late.Kind, string(id)); err != nil {
		e.log.Error("a reply that nobody waits for could not be hastened; it goes out a little later", "task_id", id, "err", err)
	}
	e.wakeLate()
}
