package tasks

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A view is a task as it was at one moment, and the place in its log where the
// news since then begins.
type view struct {
	task *a2a.Task
	of   *task  // nil for a task that ended before
	at   *entry // the last entry that task has in it
	end  place  // of the last event of a task that ended before
	sent *run   // the message that its reader has just sent to a running turn; nil if there is none
	acks bool   // that reader is told so, and does not wait for the end
}

// next returns the event after the view and moves on. It returns [io.EOF] after
// the last one.
func (v *view) next(ctx context.Context) (*Event, error) {
	if v.of == nil || v.at.last {
		return nil, io.EOF
	}
	for {
		next, more := v.of.after(v.at)
		if next != nil {
			v.at = next
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

// events yields the task and then everything that happens to it, until it has
// ended. The stream of a sender also ends when the task waits for him.
func (v *view) events(ctx context.Context, sender bool, yield func(*Event, error) bool) {
	first := &Event{Event: v.task, ID: v.place().String()}
	if !yield(first, nil) || sender && needsCaller(v.task.Status.State) {
		return
	}
	v.follow(ctx, sender, yield)
}

// place is where the view stands in its task's events.
func (v *view) place() place {
	if v.of == nil {
		return v.end
	}
	return v.at.at
}

// follow yields what comes after the view.
func (v *view) follow(ctx context.Context, sender bool, yield func(*Event, error) bool) {
	for {
		event, err := v.next(ctx)
		if err == io.EOF { //nolint:errorlint // next returns it bare
			return
		}
		if !yield(event, err) || err != nil || sender && asks(event.Event) {
			return
		}
	}
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
	return ok && needsCaller(update.Status.State)
}

// settled waits until the task needs nobody's waiting any more: it has ended,
// or only its caller can bring it on.
func (v *view) settled(ctx context.Context) (*a2a.Task, error) {
	if v.of == nil {
		return v.task, nil
	}
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
	if state := t.status.State; state.Terminal() || needsCaller(state) {
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
