package platform

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// authorized sends the request with the token as it is now. When that is refused, the
// token is read again, for the platform may have written a new one while we asked;
// then the workspace is registered anew, once, and the request sent once more.
func (c *Client) authorized(ctx context.Context, r request, body []byte) error {
	token, err := c.token(r)
	if err != nil {
		return err
	}
	renewed := c.renewal.count.Load()
	err = c.send(ctx, r, body, token)
	if StatusOf(err) != http.StatusUnauthorized || r.loose {
		return err
	}
	c.kept.refused(token)
	if newer, readErr := c.token(r); readErr == nil && newer != token {
		token = newer
		if err = c.send(ctx, r, body, token); StatusOf(err) != http.StatusUnauthorized {
			return err
		}
	}
	if c.cfg.OnUnauthorized == nil || ctx.Value(renewing{}) != nil || r.plain {
		return err
	}
	if hookErr := c.renew(ctx, token, renewed); hookErr != nil {
		return fmt.Errorf("%w (registering anew: %w)", err, hookErr)
	}
	if token, err = c.token(r); err != nil {
		return err
	}
	return c.send(ctx, r, body, token)
}

func (c *Client) token(r request) (string, error) {
	token, err := c.cfg.Token.read(c.kept.issued.Load())
	if err != nil {
		if r.public && errors.Is(err, errNoToken) {
			return "", nil
		}
		return "", fmt.Errorf("%s: %w", r.op, err)
	}
	c.cfg.Seen(token)
	return token, nil
}

// A renewal is the one registration that all wait for whose token was refused.
type renewal struct {
	turn   chan struct{} // holds a token while one registers
	pause  time.Duration // between one that failed and the next
	count  atomic.Int64  // of registrations that succeeded
	failed time.Time     // when the last one failed; guarded by turn
	cause  error         // why
}

// renewing marks the context of the hook.
type renewing struct{}

// What is refused is not asked for again at once by everybody else.
const renewalPause = 5 * time.Second

// renew calls the hook, unless another has done so since the refused request began:
// then the token is another, or the count is.
func (c *Client) renew(ctx context.Context, refused string, count int64) error {
	select {
	case c.renewal.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-c.renewal.turn }()
	token, err := c.cfg.Token.read(c.kept.issued.Load())
	if c.renewal.count.Load() != count || err == nil && token != refused {
		return nil
	}
	if c.renewal.cause != nil && time.Since(c.renewal.failed) < c.renewal.pause {
		return c.renewal.cause
	}
	if err := c.cfg.OnUnauthorized(context.WithValue(ctx, renewing{}, true)); err != nil {
		if ctx.Err() == nil {
			c.renewal.failed, c.renewal.cause = time.Now(), err
		}
		return err
	}
	c.renewal.cause = nil
	c.renewal.count.Add(1)
	return nil
}
