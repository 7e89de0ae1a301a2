package bridge

import (
	"context"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/cenkalti/backoff/v5"
)

// reconnect is how long a watch tries to come back to a runtime that is gone.
const reconnect = 5 * time.Minute

// A Sight is told what a watch sees.
type Sight struct {
	Event func(a2a.Event)
	Lost  func(error) // why the runtime is away, and nil when it is back; nil is not told
}

// Watch hands on what happens in a task, from its beginning, and returns how it ended.
// A connection that breaks is made anew, and goes on behind what was seen: also with a
// runtime that was restarted.
func (c *Client) Watch(ctx context.Context, id string, see Sight) (*Task, error) {
	task, err := c.find(ctx, id)
	if err != nil {
		return nil, err
	}
	w := &watch{client: c, task: task.ID, last: beginning, see: see, heard: time.Now()}
	waits := backoff.NewExponentialBackOff()
	for {
		before := w.last
		err := w.follow(ctx)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil && !passing(err) {
			return nil, err
		}
		if w.ended || err == nil && w.last == before { // there was nothing left to see
			if now, err := c.find(ctx, id); err == nil && now.Status.State.Terminal() {
				return taskOf(now), nil
			}
		}
		if w.last != before {
			waits.Reset()
		}
		if err != nil && time.Since(w.heard) > reconnect {
			return nil, err
		}
		if err != nil {
			w.lost(err)
		}
		select {
		case <-time.After(waits.NextBackOff()):
		case <-ctx.Done():
		}
	}
}

// A watch is how far somebody has seen a task.
type watch struct {
	client *Client
	task   a2a.TaskID
	last   string // the id of the newest event
	ended  bool   // that was the end
	see    Sight
	away   bool      // the runtime is, and that was told
	heard  time.Time // when it has answered last
}

// lost tells that the runtime is away, or is back.
func (w *watch) lost(why error) {
	if away := why != nil; away != w.away && w.see.Lost != nil {
		w.away = away
		w.see.Lost(why)
	}
}

// follow hands events on until the stream ends.
func (w *watch) follow(ctx context.Context) error {
	for e, err := range w.client.subscribe(ctx, w.task, w.last, func() {
		w.heard = time.Now()
		w.lost(nil)
	}) {
		if err != nil {
			return err
		}
		if e.id != "" {
			w.last = e.id
		}
		switch event := e.event.(type) {
		case *a2a.TaskStatusUpdateEvent:
			w.ended = event.Status.State.Terminal()
		case *a2a.Task:
			w.ended = event.Status.State.Terminal()
		}
		w.see.Event(e.event)
	}
	return nil
}
