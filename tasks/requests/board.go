package requests

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A Journal keeps the requests. A [store.Store] is one, and says what its methods mean.
type Journal interface {
	Deliveries(ctx context.Context, kind string, after int64, limit int) ([]store.Delivery, error)
	Delivery(ctx context.Context, id int64) (store.Delivery, error)
	AimDelivery(ctx context.Context, id int64, target string) error
	FinishDelivery(ctx context.Context, id int64) error
	GiveUpDelivery(ctx context.Context, id int64) error
	Asked(ctx context.Context, task, question string) (bool, error)
}

var _ Journal = (*store.Store)(nil)

// A Platform shows requests to the user of a workspace. Errors with a method Permanent that returns
// true are not tried again.
type Platform interface {
	// Put shows a request. Listed says that its decision is found in the list, and not sent.
	Put(ctx context.Context, r Request) (id string, listed bool, err error)
	// List returns the newest requests of which the platform keeps a list, the newest first; none
	// where it keeps no list.
	List(ctx context.Context) ([]Listed, error)
	// Close takes the buttons of a listed one away.
	Close(ctx context.Context, id string) error
}

// A Listed is a request as a platform lists it.
type Listed struct {
	ID       string
	Question string
	State    State

	place int // in the list
}

// A State is what has become of a listed request.
type State int

// The states.
const (
	Pending  State = iota
	Approved       // by a person
	Denied         // by a person
	Lapsed         // undecided: its time was up, or we have closed it
)

// Config describes a board. All but Mine, Now and Logger must be set.
type Config struct {
	Journal  Journal
	Platform Platform
	// Decide answers a question of a task with a decision. It is one answer however often it is
	// given under one name. An error is tried again.
	Decide func(ctx context.Context, task, question, name string, accept bool) error
	Mine   func(conversation string) bool // whether a conversation is the workspace's; nil says that all are
	Logger *slog.Logger                   // nil discards
}

// A Board puts requests up and brings decisions back. Create it with [New].
type Board struct {
	cfg  Config
	log  *slog.Logger
	wake chan struct{} // has room for one

	// Run owns the fields below.
	open    map[int64]*request
	unread  int       // times in a row that the list, or the journal, could not be read
	readAt  time.Time // when the list is to be read again
	newest  time.Time // when a request was put up last
	taken   bool      // what an earlier process has left was taken up
	blinded bool      // the journal could not be read, and that was said
}

// A request is what is known of a row beside what the journal has.
type request struct {
	row    store.Delivery
	shown  Request
	unsure bool      // it may have been put up already
	failed int       // tries in a row, of one step
	missed time.Time // since when the list has it no more
	due    time.Time // of the next
	seen   bool      // in this round
}

const (
	page = 256
	// most is how often a request is put up: for two hours, where it lapses after ten minutes.
	most = 12
	// retry is when the journal is asked again that could not be read or written.
	retry = time.Second
)

// New returns a board. It starts nothing.
func New(cfg Config) *Board {
	if cfg.Mine == nil {
		cfg.Mine = func(string) bool { return true }
	}
	return &Board{cfg: cfg, log: cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler)), wake: make(chan struct{}, 1), open: map[int64]*request{}}
}

// Wake says that there is something new. It never blocks.
func (b *Board) Wake() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Run puts requests up and brings their decisions back until ctx ends. It may be called once.
func (b *Board) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
		case <-b.wake:
		case <-timer.C:
		}
		if ctx.Err() != nil {
			return
		}
		timer.Reset(b.round(ctx))
	}
}

// round has each request do its next step, and says when there is one again.
func (b *Board) round(ctx context.Context) time.Duration {
	if err := b.read(ctx); err != nil {
		if !b.blinded && ctx.Err() == nil {
			b.log.Error("the requests to the user cannot be read from the journal; this is tried again each second", "err", err)
		}
		b.blinded = true
		return retry
	}
	b.blinded = false
	list := b.list(ctx)
	began := time.Now()
	for _, r := range b.inOrder() {
		if time.Until(r.due) > 0 {
			continue
		}
		if time.Since(began) > soon { // the platform is slow: decisions are looked for between its answers
			return 0
		}
		done, err := b.step(ctx, r, list)
		switch {
		case ctx.Err() != nil:
			return retry
		case done:
			delete(b.open, r.row.ID)
		case err != nil:
			b.failed(r, err)
		default:
			r.failed, r.due = 0, time.Time{}
		}
	}
	return b.next()
}

// inOrder are the requests: first those that are up, whose decision may be there, then those that wait longest.
func (b *Board) inOrder() []*request {
	return slices.SortedFunc(maps.Values(b.open), func(x, y *request) int {
		if (x.row.Target == "") != (y.row.Target == "") {
			return cmp.Compare(y.row.Target, x.row.Target)
		}
		return cmp.Or(x.due.Compare(y.due), cmp.Compare(x.row.ID, y.row.ID))
	})
}

// read takes up the rows that are new, and lets go of those that are not there any more.
func (b *Board) read(ctx context.Context) error {
	for after := int64(0); ; {
		rows, err := b.cfg.Journal.Deliveries(ctx, Kind, after, page)
		if err != nil {
			return err
		}
		for _, row := range rows {
			after = row.ID
			if err := b.take(ctx, row); err != nil {
				return err
			}
		}
		if len(rows) < page {
			break
		}
	}
	b.taken = true
	for id, r := range b.open {
		if !r.seen {
			delete(b.open, id)
		}
		r.seen = false
	}
	return nil
}

func (b *Board) take(ctx context.Context, row store.Delivery) error {
	if r := b.open[row.ID]; r != nil {
		r.seen, r.row.Target, r.row.Tries = true, row.Target, row.Tries
		return nil
	}
	if !b.cfg.Mine(row.Conversation) {
		return nil
	}
	whole, err := b.cfg.Journal.Delivery(ctx, row.ID)
	if errors.Is(err, store.ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	shown, err := Decode(whole.Body)
	if err != nil {
		b.log.Error("a request to the user is damaged; its question is asked in words", "task_id", row.Task, "err", err)
		return b.cfg.Journal.FinishDelivery(ctx, row.ID)
	}
	if row.Created.After(b.newest) {
		b.newest = row.Created
	}
	b.open[row.ID] = &request{row: whole, shown: shown, unsure: !b.taken, seen: true}
	return nil
}

// failed puts the next step of a request off.
func (b *Board) failed(r *request, err error) {
	level := slog.LevelWarn
	if r.failed > 0 {
		level = slog.LevelDebug
	}
	b.log.Log(context.Background(), level, "a request to the user could not be taken further; this is tried again", "task_id", r.row.Task, "err", err)
	r.due = time.Now().Add(curve().After(r.failed, 0))
	r.failed++
}

func curve() deliver.Curve { return deliver.Curve{Longest: time.Minute, Spread: 0.2} }
