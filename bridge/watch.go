package bridge

import (
	"context"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/cenkalti/backoff/v5"
)

// reconnect is how long a watch tries to come back to a runtime that is gone.
const reconnect = 5 * time.Minute

// Watch hands on what happens in a task, from its beginning, and returns how it ended.
// A connection that breaks is made anew, and goes on behind what was seen: also with a
// runtime that was restarted.
func (c *Client) Watch(ctx context.Context, id string, see func(a2a.Event)) (*Task, error) {
	task, err := c.find(ctx, id)
	if err != nil {
		return nil, err
	}
	w := &watch{client: c, task: task.ID, last: beginning, see: see}
	waits := backoff.NewExponentialBackOff()
	for heard := time.Now(); ; {
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
			heard = time.Now()
			waits.Reset()
		}
		if err != nil && time.Since(heard) > reconnect {
			return nil, err
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
	see    func(a2a.Event)
}

// follow hands events on until the stream ends.
func (w *watch) follow(ctx context.Context) error {
	for e, err := range w.client.subscribe(ctx, w.task, w.last) {
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
		w.see(e.event)
	}
	return nil
}
