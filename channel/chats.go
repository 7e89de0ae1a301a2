package channel

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

const (
	rowsAtOnce = 16          // of a chat that are read from the store
	storePause = time.Second // before what the store did not take is tried again

	// fetchLimit is how long a platform that answers is asked for a file before the
	// messages behind it go on without. A try that has begun by then may take longer.
	fetchLimit = 5 * time.Minute
)

// chats give rows to the engine: a goroutine for each chat that has rows to give.
type chats struct {
	cfg    Config
	log    *slog.Logger
	spaces map[string]*space
	news   *pulse
	wake   chan struct{} // there are new rows; has room for one
	wg     sync.WaitGroup

	mu      sync.Mutex
	working map[string]bool   // the chats that have a goroutine; true if there may be more rows for it
	follows map[string]*trail // the tasks that are followed
	last    map[string]*trail // of each chat, the one that was followed last, while it is
}

func newChats(cfg Config, spaces map[string]*space, news *pulse) *chats {
	return &chats{cfg: cfg, log: cfg.Logger, spaces: spaces, news: news, wake: make(chan struct{}, 1), working: map[string]bool{}, follows: map[string]*trail{}, last: map[string]*trail{}}
}

// run gives rows until reading ends, and follows tasks until work does.
func (d *chats) run(reading, work context.Context) {
	defer d.wg.Wait()
	d.resume(work)
	poke(d.wake)
	for {
		select {
		case <-d.wake:
		case <-reading.Done():
			return
		}
		names, err := d.cfg.Store.InboxChats(reading)
		if err != nil {
			if reading.Err() == nil {
				d.log.Error("the inbox cannot be read from the store; this is tried again", "err", err)
				time.AfterFunc(storePause, func() { poke(d.wake) })
			}
			continue
		}
		for _, name := range names {
			d.begin(reading, work, name)
		}
	}
}

// begin starts a goroutine for a chat, unless it has one.
func (d *chats) begin(reading, work context.Context, name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, busy := d.working[name]; busy {
		d.working[name] = true
		return
	}
	d.working[name] = false
	d.wg.Go(func() { d.serve(reading, work, name) })
}

// end reports whether the goroutine of a chat has nothing more to do, and then it has none.
func (d *chats) end(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.working[name] {
		d.working[name] = false
		return false
	}
	delete(d.working, name)
	return true
}

// serve gives the rows of a chat in their order.
func (d *chats) serve(reading, work context.Context, name string) {
	var after int64
	for {
		rows, err := d.cfg.Store.InboxOpen(reading, name, after, rowsAtOnce)
		if err != nil {
			if !sleep.For(reading, storePause) {
				return
			}
			continue
		}
		if len(rows) == 0 && d.end(name) {
			return
		}
		for _, row := range rows {
			if !d.one(reading, work, row) {
				return
			}
			after = row.N
		}
	}
}

// one brings a row on its way, and reports whether the next may follow.
func (d *chats) one(reading, work context.Context, row store.InboxRow) bool {
	s := d.spaces[row.Workspace]
	if s == nil || s.conn.isLeft() || row.State == store.InboxGiven && d.followed(row.Task) {
		return true // the workspace is none of ours any more, or the row has its task
	}
	if row.Kind == kindUpload {
		return d.fetch(reading, s, row)
	}
	for failures := 0; ; failures++ {
		task, err := d.hand(reading, s, row)
		refused, over := new(RefusedError), new(overError)
		switch {
		case err == nil:
			return d.given(reading, work, row, task)
		case errors.As(err, &refused):
			return d.refuse(reading, row, refused)
		case errors.As(err, &over):
			return d.drain(reading, row, over.note)
		case !errors.Is(err, ErrNotNow) && reading.Err() == nil:
			d.log.Error("a message could not be handed in; this is tried again", "activity", row.Activity, "err", err)
		}
		if !sleep.For(reading, min(pause(failures, nil)/4, 5*time.Second)) {
			return false
		}
	}
}

// refuse answers a row with why it is not taken.
func (d *chats) refuse(ctx context.Context, row store.InboxRow, why *RefusedError) bool {
	d.log.Warn("a message was refused", "activity", row.Activity, "why", why.Text)
	d.inTurn(ctx, d.before(row))
	return d.keep(ctx, row, Answer{ID: row.Activity + "-refused", Text: why.Text, Final: true})
}

// drain ends a row that gets no answer. One that has ended already stays as it is.
func (d *chats) drain(ctx context.Context, row store.InboxRow, note string) bool {
	return d.persist(ctx, func() error { return d.cfg.Store.DrainInbox(ctx, row.N, note) })
}

// given notes the task of a row and follows it. A row whose note is lost is given again.
func (d *chats) given(reading, work context.Context, row store.InboxRow, task string) bool {
	ok := d.persist(reading, func() error { return d.cfg.Store.MarkInboxGiven(reading, row.N, task) })
	row.Task = task
	d.follow(work, row)
	return ok
}

// fetch brings a file to the disk that later rows name. They wait for it, unless the
// platform goes on answering and does not give it.
func (d *chats) fetch(ctx context.Context, s *space, row store.InboxRow) bool {
	e, err := d.kept(ctx, row)
	if ctx.Err() != nil {
		return false
	}
	if err != nil || len(e.Files) != 1 || s.handedOut(ctx, d.cfg.Store, row.URI) {
		return d.drain(ctx, row, "")
	}
	var spent time.Duration // while the platform has answered: an outage is waited for
	for failures := 0; ; failures++ {
		if !s.conn.await(ctx) {
			return s.conn.isLeft()
		}
		began := time.Now()
		uri, err := s.Files.Fetch(ctx, e.Files[0])
		if ctx.Err() != nil {
			return false
		}
		up := s.conn.isUp()
		if up {
			spent += time.Since(began)
		}
		_, again := platform.Again(err)
		if err == nil || !again || spent >= fetchLimit {
			if err != nil {
				d.log.Warn("a file of the user's is not to be had", "workspace", s.ID, "activity", row.Activity, "err", err)
			}
			return d.drain(ctx, row, uri)
		}
		d.log.Warn("a file of the user's cannot be fetched; this is tried again, and its messages wait", "workspace", s.ID, "activity", row.Activity, "err", err)
		wait := pause(failures, err)
		if !sleep.For(ctx, wait) {
			return false
		}
		if up {
			spent += wait
		}
	}
}

// persist tries a write until the store takes it, and reports whether it has.
func (d *chats) persist(ctx context.Context, write func() error) bool {
	for {
		err := write()
		if err == nil {
			d.news.beat()
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		d.log.Error("the store does not take what became of a message; this is tried again", "err", err)
		if !sleep.For(ctx, storePause) {
			return false
		}
	}
}
