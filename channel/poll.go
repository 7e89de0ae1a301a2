package channel

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

const pageRows = 100

// A poller reads the inbox of a workspace.
type poller struct {
	cfg   Config
	log   *slog.Logger
	space *space
	news  *pulse
	rows  chan struct{} // is poked when there are new ones

	acked   int64           // of the rows, by channels before this process
	learnt  bool            // that is known, or cannot be
	tries   int             // to learn it that the platform has failed
	limit   int             // rows of a page
	ignores bool            // the platform does not know cursors
	window  *window         // that is being read by time; nil if there is none
	seen    map[string]bool // the rows of the one before
	full    bool            // it has been said that there are too many rows
	odd     bool            // and that there are rows without an id
}

func newPoller(cfg Config, s *space, news *pulse, rows chan struct{}) *poller {
	return &poller{cfg: cfg, log: cfg.Logger.With("workspace", s.ID), space: s, news: news, rows: rows, limit: pageRows}
}

// run polls until ctx ends: from time to time, and at once when it is to be found out
// whether the platform answers.
func (p *poller) run(ctx context.Context) {
	for !p.space.conn.isLeft() {
		more, err := p.poll(ctx)
		p.counted(ctx, err)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if !sleep.For(ctx, p.failed(err)) {
				return
			}
			continue
		}
		p.reached()
		if more {
			continue
		}
		timer := time.NewTimer(p.cfg.Interval)
		select {
		case <-timer.C:
		case <-p.space.conn.doubt:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// A storeError is one of the store, and says nothing of the platform.
type storeError struct{ error }

func (e storeError) Unwrap() error { return e.error }

func (p *poller) failed(err error) time.Duration {
	if _, ours := errors.AsType[storeError](err); ours {
		p.log.Error("the store does not take what the inbox has; nothing is lost, and this is tried again", "err", err)
		return storePause + p.cfg.Interval
	}
	first := p.space.conn.isUp()
	wait := p.space.conn.failed(err)
	p.news.beat()
	if first {
		p.log.Warn("the inbox cannot be read; this is tried again", "err", platform.Advise(err))
	} else {
		p.log.Debug("the inbox still cannot be read", "err", err, "next", wait.String())
	}
	return wait
}

func (p *poller) reached() {
	if p.space.conn.up() {
		p.log.Info("the inbox can be read again")
		p.news.beat()
	}
}

// poll reads and accepts one page, and reports whether there are more.
func (p *poller) poll(ctx context.Context) (more bool, err error) {
	cursor, err := p.cfg.Store.InboxCursor(ctx, p.space.ID)
	if err != nil {
		return false, storeError{err}
	}
	if p.crowded(ctx) {
		return false, p.knock(ctx)
	}
	q := platform.RowQuery{Type: inboxType, PeerInfo: true, Limit: p.limit, Patient: true}
	if cursor.Cursor == "" || p.ignores {
		more, err = p.byTime(ctx, q, cursor)
	} else {
		p.window = nil
		q.After = cursor.Cursor
		more, err = p.behind(ctx, q)
	}
	if errors.Is(err, platform.ErrTooMuch) && p.limit > 1 { // a few rows that are large
		p.limit = max(1, p.limit/8)
		return true, nil
	}
	if err == nil { // what comes next may be as large
		p.limit = min(pageRows, 2*p.limit)
	}
	return more, err
}

// behind reads what stands behind the cursor.
func (p *poller) behind(ctx context.Context, q platform.RowQuery) (more bool, err error) {
	began := time.Now()
	rows, err := p.space.Platform.ActivityRows(platform.Once(ctx), q)
	switch {
	case errors.Is(err, platform.ErrCursorGone), platform.StatusOf(err) == http.StatusBadRequest: // it may not even be one there
		p.log.Warn("the platform has forgotten how far the inbox was read; it is read by time")
		if err := p.cfg.Store.DropInboxCursor(ctx, p.space.ID); err != nil {
			return false, storeError{err}
		}
		return true, nil
	case errors.Is(err, platform.ErrCursorIgnored):
		p.log.Info("this platform knows no cursors; its inbox is read by time")
		p.ignores = true
		return true, nil
	case err != nil:
		return false, err
	}
	full := len(rows) >= q.Limit
	if full { // there may be rows of before now behind it
		began = time.Time{}
	}
	fresh, err := p.accept(ctx, p.known(rows), began)
	if err == nil && !full {
		p.caughtUp()
	}
	return full && fresh > 0, err // the same page without end is not asked for without a pause
}

// known returns the rows that have an id, of a length that ids have: one without can neither be
// answered once nor be left behind.
func (p *poller) known(rows []platform.Row) []platform.Row {
	all := len(rows)
	rows = slices.DeleteFunc(rows, func(r platform.Row) bool { return r.ID == "" })
	if len(rows) < all && !p.odd {
		p.odd = true
		p.log.Warn("the inbox has rows without an id; they are left out", "rows", all-len(rows))
	}
	return rows
}

// large says of a row that not all of it was read.
func (p *poller) large(r platform.Row) {
	if len(r.Cut) > 0 {
		p.log.Warn("a row of the inbox is too large to be read whole; what was left out of it is lost, a message is refused for that, and the inbox goes on behind it",
			"activity", brief.Line(r.ID, longestName), "peer", brief.Line(r.FromPeer(), longestName), "left_out", r.Cut)
	}
}

// crowded reports whether so many rows are not answered yet, or so much is in them, that no
// more are taken.
func (p *poller) crowded(ctx context.Context) bool {
	n, err := p.cfg.Store.InboxUnanswered(ctx, p.space.ID)
	bytes, failed := p.cfg.Store.InboxBytes(ctx, p.space.ID)
	crowded := err == nil && n >= mostOpen || failed == nil && bytes >= mostBytes
	if crowded && !p.full {
		p.log.Warn("too many messages are not answered yet; the others wait on the platform", "messages", n, "bytes", bytes)
	}
	p.full = crowded
	return crowded
}

// knock finds out whether a platform answers that has not, when no row may be taken.
func (p *poller) knock(ctx context.Context) error {
	if p.space.conn.isUp() {
		return nil
	}
	_, err := p.space.Platform.ActivityRows(platform.Once(ctx), platform.RowQuery{Type: inboxType, Since: time.Second, Limit: 1})
	return err
}

// accept commits a page, and returns how many of its rows were not known. Everything that
// had come by the time read has been accepted with it; the zero time says nothing of that.
func (p *poller) accept(ctx context.Context, rows []platform.Row, read time.Time) (fresh int, err error) {
	if len(rows) == 0 {
		return 0, nil
	}
	if err := p.learn(ctx); err != nil {
		return 0, err
	}
	page := store.InboxPage{
		Workspace: p.space.ID, Cursor: rows[len(rows)-1].ID, Read: read,
		Counted: kindPeer, Resets: kindCanvas, Most: mostUnasked, Mute: muteBudget,
		Share: p.space.names.share(),
	}
	for _, r := range rows {
		p.large(r)
		row, doubt := p.space.names.classify(r)
		if doubt != "" {
			p.log.Warn("a row of the inbox cannot be answered", "activity", brief.Line(r.ID, longestName), "method", brief.Line(r.Method, longestName), "why", doubt)
		}
		page.Rows = append(page.Rows, p.worked(row))
	}
	fresh, err = p.cfg.Store.AcceptInbox(ctx, page)
	if err != nil {
		return 0, storeError{err}
	}
	if fresh == 0 {
		return 0, nil
	}
	p.cfg.Metrics.Accepted(p.space.ID, fresh)
	p.log.Debug("rows of the inbox were accepted", "rows", fresh)
	poke(p.rows)
	p.news.beat()
	return fresh, nil
}
