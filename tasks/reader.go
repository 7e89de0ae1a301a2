package tasks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/sizes"
)

// A view is a task as it was at one moment, and the place in its log where the
// news since then begins.
type view struct {
	task *a2a.Task // nil once a reader has it and the task goes on
	info a2a.TaskInfo
	of   *task  // nil for a task that ended before
	at   cursor // in the log of that task
	end  place  // of the last event of a task that ended before
	used bool   // what its reader gets is made of the task
	sent *run   // the message that its reader has just sent to a running turn; nil if there is none
	acks bool   // that reader is told so, and does not wait for the end

	unread bool // the journal has more of the task than stands in the view; see load
}

// errBehind says that the log has let go of the reader: it goes on in the journal.
var errBehind = errors.New("the reader is too far behind")

// next returns the event after the view and moves on. It returns [io.EOF] after
// the last one.
func (v *view) next(ctx context.Context) (*Event, error) {
	if v.of == nil {
		return nil, io.EOF
	}
	at := v.at.at.Load()
	switch {
	case at == nil:
		return nil, errBehind
	case at.last:
		return nil, io.EOF
	}
	for {
		next, more := v.of.after(at)
		if next != nil {
			v.at.advance(at, next)
			return next.event, nil
		}
		if err := v.of.engine.wait(ctx, more); err != nil {
			return nil, err
		}
	}
}

// after returns the entry that follows at, or a channel that is closed when
// there is one.
func (t *task) after(at *entry) (*entry, <-chan struct{}) {
	if next := at.next.Load(); next != nil {
		return next, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if next := at.next.Load(); next != nil {
		return next, nil
	}
	return nil, t.log.more.wait()
}

// open has the task's log look after the view until it is closed: its reader may be slow
// from the first event on.
func (v *view) open() (closed func()) {
	if v.of == nil {
		return func() {}
	}
	t := v.of
	t.mu.Lock()
	defer t.mu.Unlock()
	t.log.join(&v.at)
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.log.leave(&v.at)
	}
}

// events yields the task and then everything that happens to it, until it has
// ended. The stream of a sender also ends when the task waits for an answer.
func (v *view) events(ctx context.Context, sender bool, yield func(*Event, error) bool) {
	task := v.task
	v.task = nil // it is passed on, and of one that has ended nothing follows
	ends := sender && reply.NeedsCaller(task.Status.State)
	if !yield(&Event{Event: task, ID: v.place().String()}, nil) || ends {
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

// place is where the view stands in its task's events.
func (v *view) place() place {
	if v.of == nil {
		return v.end
	}
	return v.at.last
}

// follow yields what comes after the view.
func (v *view) follow(ctx context.Context, sender bool, yield func(*Event, error) bool) {
	for {
		event, err := v.next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return
		case errors.Is(err, errBehind):
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
func (v *view) shown(event *Event, sender bool) *Event {
	if v.of == nil { // the task has ended, and asks nothing
		return event
	}
	return v.of.withQuestions(event, sender)
}

// catchUp yields from the journal what the log has let go of, and reports whether the
// reader goes on: it is then where the log was when this began.
func (v *view) catchUp(ctx context.Context, sender bool, yield func(*Event, error) bool) bool {
	from := v.at.last
	t := v.of
	t.mu.Lock()
	v.at.set(t.log.tail)
	t.mu.Unlock()
	if !v.committed() {
		v.of.engine.anew(ctx, v.info.TaskID, sender, yield)
		return false
	}
	return v.of.engine.replay(ctx, v, from, sender, yield)
}

// unplaced is a stream without the places of its events.
func unplaced(events iter.Seq2[*Event, error]) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		for event, err := range events {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(event.Event, nil) {
				return
			}
		}
	}
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
	v.at.at.Store(nil) // what is published meanwhile is not kept for one who waits for the end
	for {
		task, changed := v.of.settled()
		if changed == nil {
			return task, nil
		}
		if err := v.of.engine.wait(ctx, changed); err != nil {
			return nil, err
		}
	}
}

// settled returns the task, and a channel that is closed at its next change of
// state unless it has settled.
func (t *task) settled() (*a2a.Task, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if state := t.status.State; state.Terminal() || reply.NeedsCaller(state) {
		return t.snapshot(), nil
	}
	return nil, t.states.wait()
}

// wait waits for ch, the end of ctx, or that of the engine.
func (e *Engine) wait(ctx context.Context, ch <-chan struct{}) error {
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the task: %w", context.Cause(ctx))
	case <-e.root.Done():
	}
	select { // what the engine's last tasks said still counts
	case <-ch:
		return nil
	default:
		return errGone
	}
}

// fail is a stream that consists of an error.
func fail(err error) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) { yield(nil, err) }
}
