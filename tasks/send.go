package tasks

import (
	"cmp"
	"context"
	"errors"
	"iter"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// SendMessage implements a2asrv.RequestHandler. Unless the caller wants to
// return immediately it returns when the task has ended or needs its caller. The
// end of ctx ends the waiting only.
func (e *Engine) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	if m, err := e.instead(req); m != nil || err != nil {
		return m, err
	}
	v, err := e.accept(ctx, req)
	if err != nil {
		return nil, err
	}
	task := v.task
	if req.Config == nil || !req.Config.ReturnImmediately {
		if task, err = v.settled(ctx); err != nil {
			return nil, err
		}
	}
	if req.Config == nil {
		return trimmed(task, nil), nil
	}
	return trimmed(task, req.Config.HistoryLength), nil
}

// SendStreamingMessage implements a2asrv.RequestHandler. The first event is the
// task as it is with the message, the last one that of its end, or the question
// that only the sender can answer.
func (e *Engine) SendStreamingMessage(ctx context.Context, req *a2a.SendMessageRequest) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if m, err := e.instead(req); m != nil || err != nil {
			yield(m, err)
			return
		}
		v, err := e.accept(ctx, req)
		if err != nil {
			yield(nil, err)
			return
		}
		if req.Config != nil {
			v.task = trimmed(v.task, req.Config.HistoryLength)
		}
		v.events(ctx, true, yield)
	}
}

// instead returns the message that answers one without a turn, if there is any.
func (e *Engine) instead(req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	if e.cfg.Instead == nil {
		return nil, nil
	}
	if err := check(req); err != nil {
		return nil, err
	}
	answer := e.cfg.Instead(req.Message)
	if answer == nil {
		return nil, nil
	}
	m := *answer
	m.Role = a2a.MessageRoleAgent
	m.ID = cmp.Or(m.ID, a2a.NewMessageID())
	m.ContextID = cmp.Or(m.ContextID, req.Message.ContextID, a2a.NewContextID())
	return &m, nil
}

// accept makes a turn of a message, or finds the task that it has made before.
func (e *Engine) accept(ctx context.Context, req *a2a.SendMessageRequest) (*view, error) {
	in, err := read(req)
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // a caller who leaves must not tear this apart
	e.admit.Lock()
	defer e.admit.Unlock()
	known, err := e.cfg.Journal.Find(ctx, in.key)
	switch {
	case err == nil:
		return e.again(ctx, in, known)
	case !errors.Is(err, ErrUnknown):
		return nil, e.journalError("look the message up", err)
	case e.closed:
		return nil, stopping()
	}
	t := e.find(in.key.TaskID)
	if in.key.TaskID == "" {
		contextID := in.key.ContextID
		if contextID == "" {
			contextID = a2a.NewContextID()
		}
		t = e.newTask(a2a.NewTaskID(), contextID, e.cfg.Threads(in.key.ContextID, contextID))
	} else if err := e.belongs(ctx, in, t); err != nil {
		return nil, err
	} else if v, err := e.answer(ctx, in, t); v != nil || err != nil {
		return v, err
	}
	return e.enqueue(ctx, in, t)
}

// again answers a message that was accepted before with the task it belongs to.
func (e *Engine) again(ctx context.Context, in *incoming, known Entry) (*view, error) {
	if known.Digest != in.digest {
		return nil, refuse(a2a.ErrInvalidParams,
			"messageId %q was used before with other content; give each message an id of its own", clip(in.key.MessageID, 64))
	}
	return e.open(ctx, known.TaskID)
}

// open returns the view of a task, wherever it is kept.
func (e *Engine) open(ctx context.Context, id a2a.TaskID) (*view, error) {
	if t := e.find(id); t != nil {
		return t.view(), nil
	}
	switch kept, err := e.cfg.Journal.Load(ctx, id); {
	case errors.Is(err, ErrUnknown):
		return nil, notFound(id)
	case err != nil:
		return nil, e.journalError("load the task", err)
	default:
		return &view{task: kept}, nil
	}
}

// belongs checks a message that names a task; live is that task, or nil if it is
// not under way.
func (e *Engine) belongs(ctx context.Context, in *incoming, live *task) error {
	var task *a2a.Task
	if live != nil {
		task = live.peek()
	} else {
		v, err := e.open(ctx, in.key.TaskID)
		if err != nil {
			return err
		}
		task = v.task
	}
	if in.key.ContextID != "" && in.key.ContextID != task.ContextID {
		return refuse(a2a.ErrInvalidParams,
			"task %q belongs to another context than %q; leave the contextId out or give the task's own", task.ID, clip(in.key.ContextID, 64))
	}
	if live == nil {
		return ended(task.ID, task.Status.State)
	}
	return nil
}

// enqueue commits a message as a turn of t and gives it to the runner. The caller
// holds e.admit.
func (e *Engine) enqueue(ctx context.Context, in *incoming, t *task) (*view, error) {
	r, snapshot, err := t.join(in)
	if err != nil {
		return nil, err
	}
	entry := Entry{Key: in.key, Digest: in.digest, TaskID: t.id, JobID: r.jobID, Thread: t.thread}
	if err := e.cfg.Journal.Accept(ctx, entry, snapshot); err != nil {
		t.leave(r, func(*a2a.Task) {})
		return nil, e.journalError("store the message", err)
	}
	ahead, err := e.cfg.Runner.Submit(executor.Job{ID: r.jobID, Context: t.thread, Input: in.input}, r.observe)
	if err != nil {
		e.withdraw(ctx, entry, t, r)
		return nil, e.notQueued(err)
	}
	e.remember(t)
	return t.admit(r, ahead), nil
}

// withdraw takes back what was committed for a message that the runner refused,
// so that its sender can try again.
func (e *Engine) withdraw(ctx context.Context, entry Entry, t *task, r *run) {
	t.leave(r, func(without *a2a.Task) {
		if t.turns == 1 {
			without = nil
		}
		if err := e.cfg.Journal.Withdraw(ctx, entry, without); err != nil {
			e.log.Error("a refused message could not be withdrawn", "task_id", t.id, "err", err)
		}
	})
}
