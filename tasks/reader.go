package tasks

import (
	"context"
	"errors"
	"io"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/sizes"
)

// A view is a task as it was at one moment, and the place in its log where the
// news since then begins.
type view struct {
	task *a2a.Task // nil once a reader has it and the task goes on
	info a2a.TaskInfo
	of   *task       // nil for a task that ended before
	at   feed.Reader // in the log of that task
	end  feed.Cursor // of the last event of a task that ended before
	used bool        // what its reader gets is made of the task
	sent *run        // the message that its reader has just sent to a running turn; nil if there is none
	acks bool        // that reader is told so, and does not wait for the end

	unread bool // the journal has more of the task than stands in the view; see load
}

// next returns the event after the view and moves on. It returns [io.EOF] after
// the last one.
func (v *view) next(ctx context.Context) (*feed.Event, error) {
	if v.of == nil {
		return nil, io.EOF
	}
	for {
		event, more, err := v.at.Next()
		if event != nil || err != nil {
			return event, err
		}
		if err := v.of.engine.wait(ctx, more); err != nil {
			return nil, err
		}
	}
}

// open has the task's log look after the view until it is closed: its reader may be slow
// from the first event on.
func (v *view) open() (closed func()) {
	if v.of == nil {
		return func() {}
	}
	return v.at.Open()
}

// events yields the task and then everything that happens to it, until it has
// ended. The stream of a sender also ends when the task waits for an answer.
func (v *view) events(ctx context.Context, sender bool, yield func(*feed.Event, error) bool) {
	task := v.task
	v.task = nil // it is passed on, and of one that has ended nothing follows
	ends := sender && reply.NeedsCaller(task.Status.State)
	if !yield(&feed.Event{Event: task, ID: v.cursor().String()}, nil) || ends {
		return
	}
	v.follow(ctx, sender, yield)
}

// drop lets go of the task as it was, unless that is still of use: a slow reader must not
// keep the text of each moment at which one came, nor a task that has ended.
func (v *view) drop() {
	if v.of != nil || !v.used {
		v.task = nil
	}
}

// holds is about what the view has in memory for its reader alone.
func (v *view) holds() int {
	if v.task == nil || v.of != nil {
		return 0
	}
	return sizes.OfTask(v.task)
}

// cursor is where the view stands in its task's events.
func (v *view) cursor() feed.Cursor {
	if v.of == nil {
		return v.end
	}
	return v.at.At()
}

// follow yields what comes after the view.
func (v *view) follow(ctx context.Context, sender bool, yield func(*feed.Event, error) bool) {
	for {
		event, err := v.next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return
		case errors.Is(err, feed.ErrBehind):
			if !v.catchUp(ctx, sender, yield) {
				return
			}
			continue
		}
		if err != nil {
			yield(nil, err)
			return
		}
		ends := sender && asks(event.Event)
		if !yield(v.shown(event, sender), nil) || ends {
			return
		}
	}
}

// shown is an event as the view's reader gets it. The stream of a sender ends with what is asked.
func (v *view) shown(event *feed.Event, sender bool) *feed.Event {
	if v.of == nil { // the task has ended, and asks nothing
		return event
	}
	return v.of.withQuestions(event, sender)
}

// catchUp yields from the journal what the log has let go of, and reports whether the
// reader goes on: it is then where the log was when this began.
func (v *view) catchUp(ctx context.Context, sender bool, yield func(*feed.Event, error) bool) bool {
	from := v.at.At()
	v.at.Skip()
	if !v.committed() {
		v.of.engine.anew(ctx, v.info.TaskID, sender, yield)
		return false
	}
	return v.of.engine.replay(ctx, v, from, sender, yield)
}

// asks reports whether an event is a question to the sender.
func asks(event a2a.Event) bool {
	update, ok := event.(*a2a.TaskStatusUpdateEvent)
	return ok && reply.NeedsCaller(update.Status.State)
}

// settled waits until the task needs nobody's waiting any more: it has ended,
// or only its caller can bring it on.
func (v *view) settled(ctx context.Context) (*a2a.Task, error) {
	if v.of == nil {
		return v.task, nil
	}
	v.at.LetGo() // what is published meanwhile is not kept for one who waits for the end
	for {
		task, changed := v.of.feed.Settled(settles)
		if changed == nil {
			return task, nil
		}
		if err := v.of.engine.wait(ctx, changed); err != nil {
			return nil, err
		}
	}
}

func settles(state a2a.TaskState) bool { return state.Terminal() || reply.NeedsCaller(state) }

// answered waits until the task has settled, or until it is known that a message of the
// user's has become part of the turn that runs: he is told so, for what he waits for
// comes to whoever began it.
func (v *view) answered(ctx context.Context) (*a2a.Task, error) {
	if !v.acks {
		return v.settled(ctx)
	}
	task, err := v.decided(ctx)
	if err != nil || task.Status.State.Terminal() || task.Metadata[keys.Turn] != keys.TurnSteered {
		return v.settled(ctx)
	}
	if r := ReceiptOf(ctx); r != nil && r.task != nil {
		r.task.promise()
	}
	ReceiptOf(ctx).Settle(false)
	return task, nil
}

// promise notes that the user was told that the answer comes: whoever began the turn and gets it may
// be nobody who would show it.
func (t *task) promise() {
	t.lock()
	defer t.unlock()
	if !t.promised && !t.status.State.Terminal() {
		t.promised = true
		head := t.row()
		t.save(store.Change{Head: &head})
	}
}
