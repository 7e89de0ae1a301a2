package channel

import (
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A window is the time over which an inbox is read without a cursor. A page has the newest
// rows of what it is asked for, and nothing says how many older ones there are; but rows
// are accepted oldest first, none is left out, and no more than a page is held. So where a
// page does not have all of the window, an older slice of it is read first, cut until a
// page has all of that, and then the slice behind it.
type window struct {
	start time.Time       // of the slice to read; the zero time while the first page has not told
	ends  []time.Time     // of the slices, the next one last; the zero time is the end of the inbox
	seen  map[string]bool // the rows that were read
}

// moment is how exactly platforms know the time of a row.
const moment = time.Microsecond

func newWindow() *window {
	return &window{ends: []time.Time{{}}, seen: map[string]bool{}}
}

// end is that of the slice to read.
func (w *window) end() time.Time { return w.ends[len(w.ends)-1] }

// has reports whether a page has all rows of the slice. If not, a smaller one is next.
func (w *window) has(page []platform.Row, q platform.RowQuery) bool {
	if len(page) < min(q.Limit, pageRows) { // some have smaller pages than they are asked for
		return true
	}
	dated := slices.IndexFunc(page, func(r platform.Row) bool { return !r.CreatedAt.IsZero() })
	if dated < 0 {
		return true
	}
	oldest, newest := page[dated].CreatedAt, page[len(page)-1].CreatedAt
	if w.start.IsZero() { // by the clock of the rows, unless that goes ahead
		w.start = earlier(newest, time.Now()).Add(-q.Since - overlap).Truncate(moment)
	}
	end := w.end()
	switch {
	case oldest.Before(w.start):
		return true
	case end.IsZero():
		end = newest.Truncate(moment).Add(moment)
	case !oldest.Before(end): // an older platform, that has nothing but its newest rows
		w.ends = w.ends[:1]
		return true
	}
	return !w.cut(oldest, end)
}

// cut makes the slice smaller: it ends before the page that was read, and at its half, so
// that a platform that always has one more page comes to its end. That of a moment stays.
func (w *window) cut(oldest, end time.Time) bool {
	half := w.start.Add(end.Sub(w.start) / 2).Truncate(moment)
	if !half.After(w.start) {
		return false
	}
	page := oldest.Truncate(moment)
	if next := page.Add(moment); next.Before(end) { // there may be more of that moment
		page = next
	}
	w.ends = append(w.ends, page)
	if half.Before(page) {
		w.ends = append(w.ends, half)
	}
	return true
}

// rows are those of a page that belong into the window and were not read before.
func (w *window) rows(page []platform.Row, before map[string]bool) []platform.Row {
	return slices.DeleteFunc(slices.Clone(page), func(r platform.Row) bool {
		return before[r.ID] || w.seen[r.ID] || !r.CreatedAt.IsZero() && r.CreatedAt.Before(w.start)
	})
}

// next goes on to the slice behind the one that was read, and reports whether there is one.
func (w *window) next(page []platform.Row) bool {
	for _, r := range page {
		if len(w.seen) < mostSeen && len(r.ID) <= longestName {
			w.seen[r.ID] = true
		}
	}
	w.start = w.end()
	w.ends = w.ends[:len(w.ends)-1]
	return len(w.ends) > 0
}

// mostSeen rows are remembered until the inbox is read again. Of others the store says that
// they are known.
const mostSeen = 5000

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
