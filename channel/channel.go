package channel

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A Platform is where a workspace has its inbox. A [platform.Client] is one.
type Platform interface {
	ActivityRows(ctx context.Context, q platform.RowQuery) ([]platform.Row, error)
	AckActivity(ctx context.Context, seq int64) error
	Acknowledged(ctx context.Context) (int64, error)
	Notify(ctx context.Context, message string, attachments ...platform.Attachment) error
	Send(ctx context.Context, target string, m platform.Message) (platform.Reply, error)
	Upload(ctx context.Context, files ...platform.File) ([]platform.Attachment, error)
}

// A Files has the files of a workspace's messages on the disk.
type Files interface {
	// Fetch brings a file that the platform holds to the disk, and returns the URI that
	// it has from then on. The same file may be fetched twice.
	Fetch(ctx context.Context, f File) (uri string, err error)
	// Open returns the file that a reply hands out.
	Open(f File) (platform.File, error)
}

// A File is one that a message or a reply names.
type File struct {
	URI       string `json:"uri,omitempty"`
	Name      string `json:"name,omitempty"`
	MediaType string `json:"mimeType,omitempty"`
	Size      int64  `json:"size,omitempty"`
	Bytes     []byte `json:"bytes,omitempty"` // of one that came with its message
}

// A Message is what an engine is given.
type Message struct {
	ID           string // the same for the same message
	Conversation string
	Workspace    string // at which it has arrived
	Peer         string // that has sent it; "" is the user
	Text         string
	Written      time.Time // by this machine's clock; zero if that is not known
	Files        []File
	Own          bool // it is word of the workspace's own doings
}

// An Answer is what a task says to those who wait for it.
type Answer struct {
	ID    string // the same for the same answer
	Text  string
	Files []File
	Final bool // the task has ended
	Aside bool // it is for users who wait, no answer, and of no use to other agents
	// ForUser is what the user is told, at most once a day, where the message is another
	// agent's and waits for what only the user has; empty for nothing.
	ForUser string
}

// An Engine has messages answered.
type Engine interface {
	// Give hands a message in and returns the task that it is part of. When it has
	// returned, the message survives the end of the process. The same message is the
	// same task. [ErrNotNow] says to try again; a [*RefusedError] that this is of no use.
	Give(ctx context.Context, m Message) (task string, err error)
	// Follow calls say with each thing that a task says, until it has ended.
	// [ErrGone] says that the task is not known.
	Follow(ctx context.Context, task string, say func(Answer) error) error
	// Over reports whether a task has ended.
	Over(ctx context.Context, task string) bool
}

// What an engine says of messages that it does not take.
var (
	ErrNotNow = errors.New("it cannot be taken now")
	ErrGone   = errors.New("the task is not known any more")
)

// A RefusedError says why a message is not taken, to its sender.
type RefusedError struct{ Text string }

func (e *RefusedError) Error() string { return e.Text }

// A Workspace is one whose inbox is read.
type Workspace struct {
	ID       string
	Platform Platform
	Files    Files
	// Awaited says of a delegation whether a call waits for its result, and whether one
	// has returned it. Nil means neither.
	Awaited func(id string) (waits, told bool)
	// Replied is told of each reply that a peer has got. Nil wants to know of none.
	Replied func(peer, text string)
	// Telling is told of each reply that its user is about to get, and Told of what came of it. Nil wants
	// to know of none.
	Telling func(chat, reply string)
	Told    func(chat, reply string, err error)
}

// Config describes a channel. Store, Engine and Workspaces must be set.
type Config struct {
	Store      *store.Store
	Engine     Engine
	Workspaces []Workspace
	Interval   time.Duration // between polls of an inbox; 0 means 5 s
	Metrics    Metrics       // nil counts nothing
	Logger     *slog.Logger  // nil discards
}

// A Channel works off inboxes. Create it with [New].
type Channel struct {
	cfg    Config
	log    *slog.Logger
	spaces map[string]*space
	chats  *chats
	sender *sender
	news   pulse // something has come to its end
}

// A space is a workspace, as the channel works for it.
type space struct {
	Workspace
	names  names
	line   line
	poller *poller
	acker  *acker
	bodies chan struct{} // one for each large row of other agents that is in memory
}

// New returns a channel. It starts nothing.
func New(cfg Config) *Channel {
	cfg.Interval = cmp.Or(cfg.Interval, 5*time.Second)
	if cfg.Metrics == nil {
		cfg.Metrics = noMetrics{}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Channel{cfg: cfg, log: cfg.Logger, spaces: map[string]*space{}}
	for _, w := range cfg.Workspaces {
		s := &space{Workspace: w, names: names{w.ID, len(cfg.Workspaces) > 1}, line: newLine(), bodies: make(chan struct{}, mostBodies)}
		s.poller = newPoller(c, s)
		s.acker = newAcker(c, s)
		c.spaces[w.ID] = s
	}
	c.chats = newChats(c)
	c.sender = newSender(c)
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
	group := c.start(reading, work, func(s *space) { s.poller.run(reading) })
	group.Go(func() error {
		select {
		case <-quit:
		case <-ctx.Done():
			return nil
		}
		c.log.Info("no more messages are taken; what runs comes to its end")
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
		s.line.leave()
		poke(s.poller.wake)
		c.changed()
	}
}

// start starts all goroutines but the one that ends them.
func (c *Channel) start(reading, work context.Context, read func(*space)) *errgroup.Group {
	group := &errgroup.Group{}
	run := func(f func()) { group.Go(func() error { f(); return nil }) }
	run(func() { c.chats.run(reading, work) })
	run(func() { c.sender.run(work) })
	for _, s := range c.spaces {
		run(func() { read(s) })
		run(func() { s.acker.run(work) })
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
		due, err := c.cfg.Store.RepliesDue(ctx, c.mostDue())
		if err != nil {
			return true
		}
		for _, r := range due {
			if s := c.spaces[r.Workspace]; r.Tries == 0 && s != nil && s.line.isUp() {
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
