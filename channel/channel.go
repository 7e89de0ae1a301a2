package channel

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
)

// A Channel works off inboxes. Create it with [New].
type Channel struct {
	cfg     Config
	spaces  map[string]*space
	pollers []*poller
	ackers  []*acker
	chats   *chats
	replies *replies
	sending *deliver.Deliverer[string, *reply]
	news    *pulse // something has come to its end, or a platform is back
}

// New returns a channel. It starts nothing.
func New(cfg Config) *Channel {
	cfg.Agent = cmp.Or(cfg.Agent, "codex")
	cfg.Interval = cmp.Or(cfg.Interval, 5*time.Second)
	if cfg.Metrics == nil {
		cfg.Metrics = noMetrics{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Channel{cfg: cfg, spaces: map[string]*space{}, news: &pulse{}}
	c.chats = newChats(cfg, c.spaces, c.news)
	for _, w := range cfg.Workspaces {
		s := newSpace(w, len(cfg.Workspaces) > 1)
		c.spaces[w.ID] = s
		c.pollers = append(c.pollers, newPoller(cfg, s, c.news, c.chats.wake))
		c.ackers = append(c.ackers, &acker{cfg: cfg, space: s, news: c.news})
	}
	c.replies = newReplies(cfg, c.spaces, c.news)
	c.sending = deliver.New(deliver.Config[string, *reply]{
		Words: deliver.Words{
			Kind: "reply", Arrived: "a reply was sent", Failed: "a reply could not be sent; this is tried again, without a second turn",
		},
		Journal: c.replies, Sender: c.replies, Room: c.replies, Curve: curve(), Logger: cfg.Logger,
	})
	return c
}

// Run works until ctx ends. When quit is closed it takes no more rows, lets the turns
// that run come to their ends, which settled waits for, and returns when their replies
// are sent.
func (c *Channel) Run(ctx context.Context, quit <-chan struct{}, settled func(context.Context) error) error {
	reading, stopReading := context.WithCancel(ctx)
	defer stopReading()
	work, stopWork := context.WithCancel(ctx)
	defer stopWork()
	group := c.start(reading, work, func(p *poller) { p.run(reading) })
	group.Go(func() error {
		select {
		case <-quit:
		case <-ctx.Done():
			return nil
		}
		c.cfg.Logger.Info("no more messages are taken; what runs comes to its end")
		stopReading()
		err := settled(work)
		c.flush(work)
		stopWork()
		return err
	})
	return group.Wait()
}

// Leave ends the work for a workspace that is gone: neither is its inbox read any more,
// nor is anything sent there.
func (c *Channel) Leave(workspace string) {
	if s := c.spaces[workspace]; s != nil {
		s.conn.leave()
		c.news.beat()
	}
}

// Reads reports whether the inbox of a workspace could be read when it was tried last.
func (c *Channel) Reads(workspace string) bool {
	s := c.spaces[workspace]
	return s != nil && s.conn.isUp()
}

// start starts all goroutines but the one that ends them.
func (c *Channel) start(reading, work context.Context, read func(*poller)) *errgroup.Group {
	group := &errgroup.Group{}
	run := func(f func()) { group.Go(func() error { f(); return nil }) }
	run(func() { c.chats.run(reading, work) })
	run(func() { c.sending.Run(work) })
	run(func() { c.until(work, func() bool { c.sending.Wake(); return false }) })
	for _, p := range c.pollers {
		run(func() { read(p) })
	}
	for _, a := range c.ackers {
		run(func() { a.run(work) })
	}
	return group
}

// flushLimit is what the replies get to be sent that are left at the end.
const flushLimit = 10 * time.Second

// flush waits until what tasks have said that have ended is sent, as far as that can be.
func (c *Channel) flush(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, flushLimit)
	defer cancel()
	c.until(ctx, func() bool {
		if slices.ContainsFunc(c.chats.tasks(), func(task string) bool { return c.cfg.Engine.Over(ctx, task) }) {
			return false
		}
		due, err := c.replies.first(ctx)
		if err != nil {
			return true
		}
		for _, r := range due {
			if s := c.spaces[r.Workspace]; r.Tries == 0 && s != nil && s.conn.isUp() {
				return false
			}
		}
		return true
	})
}

// until waits until done says so, which is asked at each news.
func (c *Channel) until(ctx context.Context, done func() bool) {
	for {
		news := c.news.wait()
		if done() {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}
