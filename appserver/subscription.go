package appserver

import (
	"context"
	"fmt"
)

// A Subscription is the notifications of one thread, in wire order. Get one
// from [Client.Subscribe] and close it. It is used by one goroutine at a time,
// but for Close, which any goroutine may call.
type Subscription struct {
	q      *queue
	router *router
	wake   chan struct{} // 1-buffered; full when there may be something new
}

// Subscribe follows a thread. A thread has one subscription: a second one takes
// over what the first has not read, and ends it. What came before Subscribe is
// there too, if the thread was started or resumed with [Client.ThreadStart] or
// [Client.ThreadResume] of this client.
func (c *Client) Subscribe(threadID string) *Subscription {
	return c.router.subscribe(threadID)
}

// Next returns the next notification, waiting for it. It fails with the cause
// of ctx, with [ErrUnsubscribed], or, once everything that the child had
// written has been taken, with the child's [ExitError].
func (s *Subscription) Next(ctx context.Context) (Notification, error) {
	for {
		if ctx.Err() != nil {
			return Notification{}, fmt.Errorf("thread %s: %w", s.q.threadID, context.Cause(ctx))
		}
		n, ok, err := s.take()
		if ok {
			return n, nil
		}
		if err != nil {
			return Notification{}, fmt.Errorf("thread %s: %w", s.q.threadID, err)
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
		}
	}
}

// Poll returns the next notification if there is one, without waiting.
func (s *Subscription) Poll() (n Notification, ok bool) {
	n, ok, _ = s.take()
	return n, ok
}

// take returns what is there without waiting.
func (s *Subscription) take() (n Notification, ok bool, err error) {
	s.q.mu.Lock()
	defer s.q.mu.Unlock()
	if s.q.owner != s {
		return Notification{}, false, ErrUnsubscribed
	}
	if n, ok = s.q.popLocked(); ok {
		return n, true, nil
	}
	return Notification{}, false, s.q.ended
}

// Close ends the subscription and drops what it has not read. The thread
// itself goes on; what it says from now on goes to [Config.OnGlobal].
func (s *Subscription) Close() { s.router.unsubscribe(s) }

// notify makes Next look again.
func (s *Subscription) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
