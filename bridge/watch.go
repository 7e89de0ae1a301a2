package bridge

import (
	"context"
	"errors"
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
	last := beginning
	waits := backoff.NewExponentialBackOff()
	for gone := time.Now(); ; {
		before := last
		err := c.follow(ctx, task.ID, &last, see)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if _, lost := errors.AsType[*UnreachableError](err); err != nil && !lost {
			return nil, err
		}
		if now, err := c.find(ctx, id); err == nil && now.Status.State.Terminal() {
			return taskOf(now), nil
		}
		if last != before {
			gone = time.Now()
			waits.Reset()
		}
		if err != nil && time.Since(gone) > reconnect {
			return nil, err
		}
		select {
		case <-time.After(waits.NextBackOff()):
		case <-ctx.Done():
		}
	}
}

// follow hands events on until the stream ends.
func (c *Client) follow(ctx context.Context, id a2a.TaskID, last *string, see func(a2a.Event)) error {
	for e, err := range c.subscribe(ctx, id, *last) {
		if err != nil {
			return err
		}
		if e.id != "" {
			*last = e.id
		}
		see(e.event)
	}
	return nil
}
