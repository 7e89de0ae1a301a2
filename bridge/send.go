package bridge

import (
	"context"
	"errors"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/cenkalti/backoff/v5"
)

// sendTries is how often a message is sent whose answer does not come. It is one message each
// time, with one id, so what it asks for is done once.
const sendTries = 5

// send sends a message and returns its task at once. Where the connection breaks, or has been
// made before the runtime is gone, the message is sent again.
func (c *Client) send(ctx context.Context, m *a2a.Message) (*a2a.Task, error) {
	sent := false
	return backoff.Retry(ctx, func() (*a2a.Task, error) {
		task, err := c.sendOnce(ctx, m)
		if lost, ok := errors.AsType[*UnreachableError](err); ok && (sent || !refusedConnection(lost)) {
			sent = true // or may have been
			return nil, err
		}
		if err != nil {
			err = backoff.Permanent(err)
		}
		return task, err
	}, backoff.WithMaxTries(sendTries), backoff.WithBackOff(backoff.NewExponentialBackOff()))
}

func (c *Client) sendOnce(ctx context.Context, m *a2a.Message) (*a2a.Task, error) {
	var result struct {
		Task *a2a.Task `json:"task"`
	}
	err := c.call(ctx, "SendMessage", a2a.SendMessageRequest{
		Message: m, Config: &a2a.SendMessageConfig{ReturnImmediately: true},
	}, &result)
	if err == nil && result.Task == nil {
		err = errors.New("the runtime answered with no task")
	}
	return result.Task, err
}
