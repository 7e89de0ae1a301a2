package channel

import (
	"context"
	"errors"
	"fmt"
)

// ErrUnsent says that replies are left which could not be sent.
var ErrUnsent = errors.New("replies could not be sent; they are kept, and sent by the next run")

// Once reads each inbox once, works off what there is, and returns; at once when quit is
// closed.
func (c *Channel) Once(ctx context.Context, quit <-chan struct{}) error {
	work, stop := context.WithCancel(ctx)
	defer stop()
	read := make(chan error, len(c.pollers))
	group := c.start(work, work, func(p *poller) { read <- p.all(work) })
	group.Go(func() error {
		select {
		case <-quit:
			stop()
		case <-work.Done():
		}
		return nil
	})
	group.Go(func() error {
		defer stop()
		var failed error
		for range c.pollers {
			failed = errors.Join(failed, <-read)
		}
		return errors.Join(failed, c.workOff(work))
	})
	return group.Wait()
}

// all polls until there is nothing more to read.
func (p *poller) all(ctx context.Context) error {
	for {
		more, err := p.poll(ctx)
		if err != nil {
			p.failed(err)
			return fmt.Errorf("the inbox of workspace %s: %w", p.space.ID, err)
		}
		p.reached()
		if !more {
			return nil
		}
	}
}

// workOff waits until every row is answered and every reply is sent, or cannot be.
func (c *Channel) workOff(ctx context.Context) error {
	var left error
	c.until(ctx, func() bool {
		rows, replies, unsent, err := c.left(ctx)
		switch {
		case err != nil:
			left = err
		case rows == 0 && replies == 0:
		case rows == 0 && unsent:
			left = ErrUnsent
		default:
			return false
		}
		return true
	})
	return left
}

// left counts the rows that are not answered and the replies that are not sent. Unsent
// says that it was tried, or cannot be. What an earlier channel has left of workspaces
// that are none of ours now does not count.
func (c *Channel) left(ctx context.Context) (rows, replies int, unsent bool, err error) {
	for id, s := range c.spaces {
		if s.conn.isLeft() {
			continue
		}
		n, err := c.cfg.Store.InboxUnanswered(ctx, id)
		if err != nil {
			return 0, 0, false, err
		}
		rows += n
		unsent = unsent || !s.conn.isUp()
	}
	due, err := c.replies.first(ctx)
	for _, r := range due {
		if s := c.spaces[r.Workspace]; s != nil && !s.conn.isLeft() {
			replies++
			unsent = unsent || r.Tries > 0
		}
	}
	return rows, replies, unsent, err
}
