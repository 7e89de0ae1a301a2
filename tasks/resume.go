package tasks

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/sizes"
)

// Stream is SendStreamingMessage with the cursors of its events. When a sender
// comes back with the same message, after is the ID of the last event that it
// has seen: the stream goes on behind it, also if the task has ended meanwhile.
// An ID that is not known any more, or none, begins with the task as it is.
func (e *Engine) Stream(ctx context.Context, req *a2a.SendMessageRequest, after string) iter.Seq2[*feed.Event, error] {
	return func(yield func(*feed.Event, error) bool) {
		v, err := e.accept(ctx, req, true)
		if err != nil {
			yield(nil, err)
			return
		}
		runtime.Gosched() // the turn begins first, and then its reader hears of it
		wanted := wantedBy(req)
		if err := e.load(ctx, v); err != nil {
			yield(nil, err)
			return
		}
		takes := wanted.modes(v.task)
		yield, v.used = takes.only(v, yield), takes.remakes()
		v.task = trimmed(v.task, wanted.history)
		v.yield(ctx)
		e.resume(ctx, v, after, true, yield)
	}
}

// Resume is SubscribeToTask with the cursors of its events, and goes on after the
// event of that ID as [Engine.Stream] does. With an ID that is known, a task that
// has ended is no error: the stream is what the reader has missed.
func (e *Engine) Resume(ctx context.Context, req *a2a.SubscribeToTaskRequest, after string) iter.Seq2[*feed.Event, error] {
	if req == nil || req.ID == "" {
		return fail(refusal.New(a2a.ErrInvalidParams, "the id of the task is missing"))
	}
	return func(yield func(*feed.Event, error) bool) {
		v, err := e.underWay(ctx, req.ID)
		if err == nil && v.task.Status.State.Terminal() && after == "" {
			err = refusal.InState(a2a.ErrUnsupportedOperation, v.task, "task %q has ended (%s): there is nothing to subscribe to, get the task instead", v.task.ID, v.task.Status.State)
		}
		if err == nil {
			err = e.load(ctx, v)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		e.yield(ctx)
		e.resume(ctx, v, after, false, yield)
	}
}

// resume yields what came after an event, or everything from the view on.
func (e *Engine) resume(ctx context.Context, v *view, after string, sender bool, yield func(*feed.Event, error) bool) {
	defer v.open()()
	from, ok := feed.ParseCursor(after)
	if !ok || !v.committed() {
		v.events(ctx, sender, yield)
		return
	}
	v.drop()
	if e.replay(ctx, v, from, sender, yield) {
		v.follow(ctx, sender, yield)
	}
}

// replay yields from the journal what came between a cursor and the view, and reports
// whether its reader goes on. If it is not all there, the stream begins anew with the task
// as it is.
func (e *Engine) replay(ctx context.Context, v *view, from feed.Cursor, sender bool, yield func(*feed.Event, error) bool) bool {
	known, more := true, true
	err := e.missed(ctx, v, from, func(event *feed.Event, ok bool) bool {
		if known = ok; known {
			ends := sender && asks(event.Event)
			more = yield(v.shown(event, sender), nil) && !ends
		}
		return known && more
	})
	switch {
	case err != nil:
		yield(nil, err)
		return false
	case known:
		return more
	}
	e.anew(ctx, v.info.TaskID, sender, yield)
	return false
}

// anew is a stream that begins with the task as it is now.
func (e *Engine) anew(ctx context.Context, id a2a.TaskID, sender bool, yield func(*feed.Event, error) bool) {
	v, err := e.open(ctx, id)
	if err != nil {
		yield(nil, err)
		return
	}
	defer v.open()()
	v.events(ctx, sender, yield)
}

// committed makes sure that the journal has everything up to the view, and
// reports whether it does.
func (v *view) committed() bool {
	if v.of == nil {
		return true
	}
	v.of.lock()
	defer v.of.unlock()
	return v.of.flush() == nil
}

// eventPage is about how many bytes of batches are read at a time.
const eventPage = 64 << 10

// A backlog is what a reader has missed of the events of a task.
type backlog struct {
	info     a2a.TaskInfo
	from, to feed.Cursor
	next     int64 // the number of the event that is looked at next
	holds    int   // about what its reader has in memory all the while
	put      func(event *feed.Event, ok bool) bool
}

// missed passes on the events between two cursors, those of the journal. An event
// is passed on with ok=false, and nothing after it, if they are not all there.
func (e *Engine) missed(ctx context.Context, v *view, from feed.Cursor, put func(event *feed.Event, ok bool) bool) error {
	to := v.cursor()
	if from == to {
		return nil
	}
	if from.Seq >= to.Seq {
		put(nil, false)
		return nil
	}
	loading := loadingOf(ctx)
	defer loading.End() // the reader may wait for news from here on
	// The batch that holds the event itself shows whether it is of its epoch.
	b := &backlog{info: v.info, from: from, to: to, next: max(from.Seq, 1), holds: v.holds(), put: put}
	for more := true; more && b.next <= to.Seq; {
		if err := loading.Begin(ctx); err != nil {
			return err
		}
		page, err := e.cfg.Journal.Events(ctx, string(v.info.TaskID), b.next-1, eventPage)
		if err != nil && !errors.Is(err, store.ErrUnknown) {
			return e.journalError("read the events of the task", err)
		}
		if len(page) == 0 {
			put(nil, false)
			return nil
		}
		if more, err = b.page(ctx, loading, page); err != nil {
			return e.journalError("read the events of the task", err)
		}
	}
	return nil
}

// page hands on the events of batches, each decoded when those before it have been taken,
// and reports whether the reader wants more.
func (b *backlog) page(ctx context.Context, loading Loading, page []store.Events) (more bool, err error) {
	rest := 0
	for _, batch := range page {
		rest += len(batch.Body)
	}
	for i := range page {
		if b.next > b.to.Seq { // the batches behind the view are for the log to tell
			return false, nil
		}
		if err := loading.Begin(ctx); err != nil {
			return false, err
		}
		rest -= len(page[i].Body)
		if more, err = b.pass(&page[i], rest); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// pass hands on the events of a batch, whose body it lets go of, and reports whether the
// reader wants more. Beside it the reader has so many bytes of further batches in memory.
func (b *backlog) pass(batch *store.Events, rest int) (more bool, err error) {
	if batch.First > b.next || b.next == b.from.Seq && batch.Epoch != b.from.Epoch {
		b.put(nil, false)
		return false, nil
	}
	events, err := codec.DecodeEvents(batch.Body, b.info)
	if err == nil && int64(len(events)) != batch.Last-batch.First+1 {
		err = fmt.Errorf("a batch of %d events is numbered %d to %d", len(events), batch.First, batch.Last)
	}
	if err != nil {
		return false, err
	}
	size, last := len(batch.Body)+sizes.EventFrame*len(events), min(batch.Last, b.to.Seq)
	batch.Body = nil
	for ; b.next <= last; b.next++ {
		if b.next <= b.from.Seq {
			continue
		}
		i := b.next - batch.First
		event := &feed.Event{Event: events[i], ID: feed.Cursor{Epoch: batch.Epoch, Seq: b.next}.String(), Holds: b.holds + rest}
		events[i] = nil
		if b.next < last { // its text may be part of one with theirs
			event.Holds += size
		}
		if !b.put(event, true) {
			return false, nil
		}
	}
	return true, nil
}

// unplaced is a stream without the places of its events.
func unplaced(events iter.Seq2[*feed.Event, error]) iter.Seq2[a2a.Event, error] {
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

// fail is a stream that consists of an error.
func fail(err error) iter.Seq2[*feed.Event, error] {
	return func(yield func(*feed.Event, error) bool) { yield(nil, err) }
}
