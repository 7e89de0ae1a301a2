package tasks

import (
	"errors"
	"fmt"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// join commits a message as a further turn of the task, still to be submitted.
// The first turn comes in here, too. A message that is known is [store.ErrExists].
func (t *task) join(in *incoming, commit func(store.Message, store.Head) error) (*run, error) {
	t.lock()
	defer t.unlock()
	switch {
	case t.status.State.Terminal():
		return nil, ended(t.id, t.status.State)
	case t.canceling:
		return nil, refusal.New(a2a.ErrUnsupportedOperation, "task %q is being canceled and takes no more messages", t.id)
	}
	if err := t.roomForMore(in); err != nil {
		return nil, err
	}
	entry, err := t.entry(in)
	if err != nil {
		return nil, err
	}
	t.turns++
	t.owed = t.owed || in.receipt != nil
	meta := t.meta
	t.noteTarget(in.notify)
	r := &run{task: t, message: in.stored(t), from: in.from, jobID: t.newJob(), answers: in.answers, options: in.options, weight: in.weight(), refused: in.refused}
	if err := commit(entry(r.message, r.jobID), t.row()); err != nil {
		t.turns--
		t.meta = meta
		t.touch()
		if errors.Is(err, store.ErrExists) {
			return nil, err
		}
		return nil, t.engine.journalError("store the message", err)
	}
	t.expect(in.receipt)
	t.adopt(in.push)
	r.before = meta[keys.Notification]
	if t.turns > 1 {
		r.goesOn()
	}
	t.runs = append(t.runs, r)
	t.history = append(t.history, r.message)
	t.touch()
	return r, nil
}

// entry makes what the journal keeps of a message, once its job is known.
func (t *state) entry(in *incoming) (func(stored *a2a.Message, job string) store.Message, error) {
	pushed, err := t.pushRow(in.push)
	if err != nil {
		return nil, err
	}
	return func(stored *a2a.Message, job string) store.Message {
		return store.Message{
			Key: in.key, Digest: in.digest, TaskID: string(t.id), Job: job, Conversation: t.conversation, Body: codec.Encode(keptMessage{*stored, &in.from}), Push: pushed,
			Files: in.uses(),
		}
	}, nil
}

// newJob identifies the newest message.
func (t *state) newJob() string { return fmt.Sprintf("%s.%d", t.id, t.turns) }

// leave undoes a join whose message was not taken. withdraw is called with the
// task as it is without the message, under its lock.
func (t *task) leave(r *run, withdraw func(store.Head) error) {
	t.lock()
	defer t.unlock()
	t.turns-- // it is the newest: the next message has its number
	r.isBehind()
	t.runs = slices.DeleteFunc(t.runs, func(other *run) bool { return other == r })
	t.history = slices.DeleteFunc(slices.Clone(t.history), func(m *a2a.Message) bool { return m == r.message })
	t.note(map[string]any{keys.Notification: r.before})
	if withdraw(t.row()) != nil {
		t.turns++ // the journal has a message of that number still
	}
	if len(t.runs) == 0 && t.ending != nil {
		t.end(store.Change{})
	}
}

// admit says that the runner has taken a turn, with how many ahead of it, and
// lets its events come in. It returns the view of whoever sent the message.
func (t *task) admit(r *run, ahead int) *view {
	t.lock()
	defer t.unlock()
	r.fate = queued(ahead)
	t.countTexts(true)
	t.note(r.fate.meta())
	if t.turns > 1 {
		t.publish(&a2a.TaskStatusUpdateEvent{TaskID: t.id, ContextID: t.contextID, Status: t.status, Metadata: t.meta})
	}
	v := t.viewLocked()
	t.changed()
	r.admit()
	return v
}

// stored returns the message as it stands in the history of its task.
func (in *incoming) stored(t *task) *a2a.Message {
	m := *in.message
	m.TaskID, m.ContextID = t.id, t.contextID
	return &m
}

// expect counts the caller of a message that has been committed among those who wait for the task's
// reply.
func (t *state) expect(r *Receipt) {
	if r == nil || r.settled || r.task == t.task {
		return
	}
	if r.task != nil { // its message has moved on
		r.task.waiters.Add(-1)
	}
	r.engine, r.task, r.id = t.engine, t.task, t.id
	t.waiters.Add(1)
}

// uses are the files of a message as the journal knows them.
func (in *incoming) uses() []store.FileUse {
	var uses []store.FileUse
	for _, f := range in.staged {
		if f.Stored != "" {
			uses = append(uses, store.FileUse{Name: f.Stored, Peer: f.Peer, Own: f.Own})
		}
	}
	return uses
}
