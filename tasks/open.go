package tasks

import (
	"context"
	"errors"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// open returns the view of a task, wherever it is kept. A task that has ended is read
// whole, so nothing may be held meanwhile that others wait for.
func (e *Engine) open(ctx context.Context, id a2a.TaskID) (*view, error) {
	if t := e.live.find(id); t != nil {
		return t.view(), nil
	}
	v := &view{info: a2a.TaskInfo{TaskID: id}, unread: true}
	if err := e.load(ctx, v); err != nil {
		return nil, err
	}
	return v, nil
}

// look is open for what passes, or only wants the state: of a task that has
// ended the view has the id, the context and the state until it is loaded.
func (e *Engine) look(ctx context.Context, id a2a.TaskID) (*view, error) {
	if t := e.live.find(id); t != nil {
		return t.view(), nil
	}
	head, err := e.cfg.Journal.Head(ctx, string(id))
	if err != nil {
		return nil, e.notLoaded(id, err)
	}
	task := &a2a.Task{ID: id, ContextID: head.Context, Status: a2a.TaskStatus{State: a2a.TaskState(head.State)}}
	return &view{task: task, info: task.TaskInfo(), unread: true}, nil
}

// load reads the task of a view whole, unless the view has it, in the turn of the call, which
// goes on: the answer is made in it, too. A caller who leaves ends the wait for that.
func (e *Engine) load(ctx context.Context, v *view) error {
	if !v.unread {
		return nil
	}
	loading := loadingOf(ctx)
	if err := loading.Begin(ctx); err != nil {
		return err
	}
	row, err := e.cfg.Journal.Task(ctx, string(v.info.TaskID))
	if err != nil {
		loading.End()
		return e.notLoaded(v.info.TaskID, err)
	}
	v.task, v.end, v.unread = e.kept(row), feed.Cursor{Epoch: row.Epoch, Seq: row.LastSeq}, false
	v.info = v.task.TaskInfo()
	return nil
}

func (e *Engine) notLoaded(id a2a.TaskID, err error) error {
	if errors.Is(err, store.ErrUnknown) {
		return refusal.NotFound(id)
	}
	return e.journalError("load the task", err)
}

// underWay is [Engine.look] for those who want to hear what happens to a task. One that
// is known to the journal alone, and has not ended, is just being accepted: who
// lists tasks may see it a moment before it is under way.
func (e *Engine) underWay(ctx context.Context, id a2a.TaskID) (*view, error) {
	v, err := e.look(ctx, id)
	if err != nil || v.of != nil || v.task.Status.State.Terminal() {
		return v, err
	}
	defer e.admit.alone()()
	return e.look(ctx, id)
}

// kept makes a task of what the journal has of it. A list, which is everyone's, must not
// fail by one task of it: what cannot be read has a word in its place, and the log has why.
func (e *Engine) kept(row store.Task) *a2a.Task {
	h, badHead := readHead(row.Head)
	history, badHistory := codec.DecodeAll(row.History, codec.UnreadMessage)
	artifacts, badArtifacts := codec.DecodeAll(row.Artifacts, codec.UnreadArtifact)
	e.unread(row.ID, errors.Join(badHead, badHistory, badArtifacts))
	return &a2a.Task{
		ID: a2a.TaskID(row.ID), ContextID: row.Context,
		Status: h.Status, Metadata: withNotice(h.Metadata, row.Notice), History: history, Artifacts: artifacts,
	}
}
