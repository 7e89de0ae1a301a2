package platform

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	firstWait = 250 * time.Millisecond
	mostWait  = 5 * time.Second
	mostTries = 5
	// patience is what one call waits for between its attempts in all. It is
	// short: whoever has a longer one tries again with [Again].
	patience = 20 * time.Second
)

// Again reports whether a request that has ended with err may go through when it is
// sent once more, and what the platform asks to wait before. It says nothing about
// whether that is safe. It is the one rule for that: no answer, 5xx (which has the
// 520 to 530 of proxies in it), 408 and 429.
func Again(err error) (wait time.Duration, again bool) {
	if _, ok := errors.AsType[*transportError](err); ok {
		return 0, true
	}
	refused, ok := errors.AsType[*Error](err)
	if !ok {
		return 0, false
	}
	switch {
	case refused.Status == http.StatusTooManyRequests, refused.Status == http.StatusRequestTimeout, refused.Status >= 500:
		return refused.RetryAfter, true
	}
	return 0, false
}

// undone reports whether the platform has certainly not acted on the request.
func undone(err error) bool {
	if lost, ok := errors.AsType[*transportError](err); ok {
		return lost.unsent
	}
	refused, ok := errors.AsType[*Error](err)
	return ok && (refused.Status == http.StatusTooManyRequests || refused.Code == "platform_unavailable" || refused.Waking)
}

// retry has attempt made until it succeeds, is refused for good, may not be repeated,
// or patience ends.
func (c *Client) retry(ctx context.Context, repeats repetition, attempt func() error) error {
	waits := &backoff.ExponentialBackOff{
		InitialInterval: firstWait, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: mostWait,
	}
	var last error
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		last = attempt()
		wait, again := Again(last)
		switch {
		case last == nil:
			return struct{}{}, nil
		case !again, repeats == once, repeats == careful && !undone(last), ctx.Err() != nil:
			return struct{}{}, backoff.Permanent(last)
		case wait > 0:
			return struct{}{}, &backoff.RetryAfterError{Duration: wait}
		}
		return struct{}{}, last
	}, backoff.WithBackOff(waits), backoff.WithMaxTries(mostTries), backoff.WithMaxElapsedTime(patience))
	if err == nil {
		return nil
	}
	return last
}

// retryAfter reads the header of that name, which holds seconds or a date.
func retryAfter(header http.Header) time.Duration {
	text := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 && seconds < 1e6 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
