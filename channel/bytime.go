package channel

import (
	"context"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// byTime reads what has come since the last page was accepted, the newest page first.
func (p *poller) byTime(ctx context.Context, q platform.RowQuery, cursor store.InboxCursor) error {
	q.Since = firstWindow
	if p.limit == pageRows {
		q.Limit = timeRows
	}
	if !cursor.Read.IsZero() {
		q.Since = min(max(q.Since, time.Since(cursor.Read)+time.Minute), longestWindow)
		if cursor.Read.After(time.Now()) && !p.ignores { // the clock was put back, and nobody knows how long that is ago
			q.Since = longestWindow
		}
	}
	var all []platform.Row
	seen := map[string]bool{}
	for {
		rows, err := p.space.Platform.ActivityRows(platform.Once(ctx), q)
		if err != nil {
			return err
		}
		older := make([]platform.Row, 0, len(rows))
		for _, r := range p.known(slices.Clone(rows)) {
			if !seen[r.ID] {
				seen[r.ID] = true
				older = append(older, r)
			}
		}
		all = append(older, all...)
		before, last := next(rows, q, len(older) > 0)
		if last {
			break
		}
		q.Before = before
	}
	fresh := all[:0]
	for _, r := range all {
		if !p.seen[r.ID] {
			fresh = append(fresh, r)
		}
	}
	if _, err := p.accept(ctx, fresh); err != nil {
		return err
	}
	p.seen = seen
	p.caughtUp()
	return nil
}

// next says before when the rows behind a page by time are, and whether that was the last.
func next(rows []platform.Row, q platform.RowQuery, fresh bool) (before time.Time, last bool) {
	if len(rows) == 0 || len(rows) < min(q.Limit, pageRows) { // some have smaller pages than they are asked for
		return before, true
	}
	goesOn := func(t time.Time) bool { return q.Before.IsZero() || t.Before(q.Before) }
	before = rows[0].CreatedAt
	if before.IsZero() {
		return before, true
	}
	if moment := before.Add(time.Microsecond); fresh && len(rows) > 1 && goesOn(moment) { // there may be more of it
		return moment, false
	}
	return before, !goesOn(before)
}
