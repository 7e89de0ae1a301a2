package appserver

import (
	"context"
	"reflect"
)

// PendingCalls counts the calls that wait for an answer: ours, and those that
// the library remembers.
func (c *Client) PendingCalls() (ours, library int) {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	return len(c.calls.pending), reflect.ValueOf(c.conn).Elem().FieldByName("pending").Len()
}

// QueuedThreads counts the queues that the router keeps.
func (c *Client) QueuedThreads() int { return len(*c.router.queues.Load()) }

// CallHearing is Call, and lets heard know when the answer has been read.
func (c *Client) CallHearing(ctx context.Context, method string, params any, heard func()) error {
	return c.call(ctx, method, params, nil, func([]byte) { heard() })
}
