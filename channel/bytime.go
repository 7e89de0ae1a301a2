package channel

import (
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

const (
	timeRows = 500 // of a page that is asked for by time

	firstWindow   = 10 * time.Minute    // where the inbox was never read, and at least
	longestWindow = 30 * 24 * time.Hour // that a platform takes
	overlap       = time.Minute         // of a window with what was read before

	// mostPages of nothing new are asked for without a pause.
	mostPages = 1000
)

// byTime reads what has come since the inbox was last read to its end, the oldest rows
// first, up to the next page that has something new; more reports whether there was one,
// and the inbox goes on behind it.
func (p *poller) byTime(ctx context.Context, q platform.RowQuery, cursor store.InboxCursor) (more bool, err error) {
	q.Since = p.since(cursor)
	if p.limit == pageRows {
		q.Limit = timeRows
	}
	if p.window == nil {
		p.window = newWindow()
	}
	for range mostPages {
		q.Before = p.window.end()
		began := time.Now()
		page, err := p.space.Platform.ActivityRows(platform.Once(ctx), q)
		if err != nil {
			return false, err
		}
		if !p.window.has(page, q) {
			if err := p.anchor(ctx, &cursor, began); err != nil {
				return false, err
			}
			continue
		}
		if len(p.window.ends) > 1 { // there are rows of before now that are not read yet
			began = time.Time{}
		}
		page = p.known(page)
		fresh, err := p.accept(ctx, p.window.rows(page, p.seen), began)
		if err != nil {
			return false, err
		}
		if !p.window.next(page) {
			p.seen, p.window = p.window.seen, nil
			p.caughtUp()
			return false, nil
		}
		if fresh > 0 {
			return true, nil
		}
	}
	return false, nil
}

// since is how long ago the window begins.
func (p *poller) since(cursor store.InboxCursor) time.Duration {
	if cursor.Read.IsZero() {
		return firstWindow
	}
	if cursor.Read.After(time.Now()) && !p.ignores { // the clock was put back, and nobody knows how long that is ago
		return longestWindow
	}
	return min(max(firstWindow, time.Since(cursor.Read)+overlap), longestWindow)
}

// anchor notes where the first window begins, before it is read in pieces: the next process
// would begin its own later, and leave out what this one has not come to.
func (p *poller) anchor(ctx context.Context, cursor *store.InboxCursor, now time.Time) error {
	if !cursor.Read.IsZero() {
		return nil
	}
	cursor.Read = now.Add(overlap - firstWindow)
	_, err := p.cfg.Store.AcceptInbox(ctx, store.InboxPage{Workspace: p.space.ID, Read: cursor.Read})
	if err != nil {
		return storeError{err}
	}
	return nil
}
