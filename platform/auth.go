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
	if r.hidden {
		return c.send(ctx, r, body, "")
	}
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
	err = c.send(ctx, r, body, token)
	if StatusOf(err) == http.StatusUnauthorized {
		c.renewal.useless(ctx, err)
	}
	return err
}

func (c *Client) token(r request) (string, error) {
	token, err := c.cfg.Token.read(c.cfg.Files, c.kept.issued.Load())
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
	pause  time.Duration // between the first one that failed and the next
	count  atomic.Int64  // of registrations that succeeded
	failed time.Time     // when the last one failed; guarded by turn, as those below
	cause  error         // why
	wait   time.Duration // until the next
}

// fails notes a registration that was of no use. The turn is held.
func (r *renewal) fails(cause error) {
	if time.Since(r.failed) > 2*mostRenewalPause {
		r.wait = 0
	}
	r.wait = min(max(r.pause, 2*r.wait), max(r.pause, mostRenewalPause))
	r.failed, r.cause = time.Now(), cause
}

// useless notes that what the last one has brought is refused, too.
func (r *renewal) useless(ctx context.Context, cause error) {
	select {
	case r.turn <- struct{}{}:
		r.fails(cause)
		<-r.turn
	case <-ctx.Done():
	}
}

// renewing marks the context of the hook.
type renewing struct{}

// What is refused is not asked for again at once by all other calls, nor for ever at the
// pace of those that come.
const (
	renewalPause     = 5 * time.Second
	mostRenewalPause = 5 * time.Minute
)

// renew calls the hook, unless another has done so since the refused request began:
// then the token is another, or the count is.
func (c *Client) renew(ctx context.Context, refused string, count int64) error {
	select {
	case c.renewal.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-c.renewal.turn }()
	token, err := c.cfg.Token.read(c.cfg.Files, c.kept.issued.Load())
	if c.renewal.count.Load() != count || err == nil && token != refused {
		return nil
	}
	if c.renewal.cause != nil && time.Since(c.renewal.failed) < c.renewal.wait {
		return c.renewal.cause
	}
	if err := c.cfg.OnUnauthorized(context.WithValue(ctx, renewing{}, true)); err != nil {
		if ctx.Err() == nil {
			c.renewal.fails(err)
		}
		return err
	}
	c.renewal.cause = nil
	c.renewal.count.Add(1)
	return nil
}
