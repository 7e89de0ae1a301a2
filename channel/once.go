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
	read := make(chan error, len(c.spaces))
	group := c.start(work, work, func(s *space) { read <- s.poller.all(work) })
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
		for range c.spaces {
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
		open, unsent := 0, false
		for id, s := range c.spaces {
			n, err := c.cfg.Store.InboxUnfinished(ctx, id)
			if err != nil {
				left = err
				return true
			}
			open += n
			unsent = unsent || !s.line.isUp()
		}
		due, err := c.cfg.Store.RepliesDue(ctx, mostDue)
		if err != nil {
			left = err
			return true
		}
		waiting := len(due)
		for _, r := range due {
			unsent = unsent || r.Tries > 0
			if c.spaces[r.Workspace] == nil {
				waiting--
			}
		}
		chats, err := c.cfg.Store.InboxChats(ctx)
		switch {
		case err != nil:
			left = err
		case open == 0 && waiting == 0:
		case unsent && len(chats) == 0:
			left = ErrUnsent
		default:
			return false
		}
		return true
	})
	return left
}
