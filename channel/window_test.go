package channel_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// newestFirst is what a platform has of rows by time, none older than the window, in pages
// that are smaller than they are asked for.
func newestFirst(q platform.RowQuery, rows []platform.Row) []platform.Row {
	rows = slices.DeleteFunc(rows, func(r platform.Row) bool {
		return !q.Before.IsZero() && !r.CreatedAt.Before(q.Before) || time.Since(r.CreatedAt) > q.Since
	})
	return rows[max(0, len(rows)-min(q.Limit, 100)):]
}

// TestWindowInPieces: of a window that is many pages every row is given once, and in its
// order, however its rows lie in it, and whatever ends the process in between.
func TestWindowInPieces(t *testing.T) {
	longtest.Mark(t)
	const rows = 280
	for name, ago := range map[string]func(n int) time.Duration{
		"even":  func(n int) time.Duration { return time.Duration(rows-n) * 2100 * time.Millisecond },
		"burst": func(n int) time.Duration { return 9*time.Minute + time.Duration(rows-n)*10*time.Microsecond },
		"groups": func(n int) time.Duration {
			return time.Duration(5-n*5/rows)*99*time.Second - time.Duration(n%rows/7)*time.Microsecond
		},
	} {
		for _, old := range []bool{false, true} {
			if old && name != "even" {
				continue
			}
			t.Run(fmt.Sprintf("%s/ignores-cursors=%t", name, old), func(t *testing.T) {
				d, dir := &desk{old: old}, t.TempDir()
				synctest.Test(t, func(t *testing.T) {
					var want []string
					for n := range rows {
						d.put("", fmt.Sprint(n), func(r *platform.Row) { r.CreatedAt = r.CreatedAt.Add(-ago(n)) })
						want = append(want, fmt.Sprint(n))
					}
					d.put("", "long ago", func(r *platform.Row) { r.CreatedAt = r.CreatedAt.Add(-time.Hour) })
					d.rows = append(d.rows[rows:], d.rows[:rows]...)
					given := eachPoll(t, dir, d)
					if !slices.Equal(given, want) {
						t.Errorf("%d of %d were given, or not in their order: %.200q", len(given), rows, given)
					}
				})
			})
		}
	}
}

// eachPoll ends each process of a channel after some more requests for rows than the one
// before, until one has read them all, and returns what was given.
func eachPoll(t *testing.T, dir string, d *desk) []string {
	c := &clerk{}
	for polls, whole := 1, false; !whole; polls += 2 + polls {
		left, ended := polls, make(chan struct{})
		d.pages = func(q platform.RowQuery, rows []platform.Row) ([]platform.Row, error) {
			if left--; left < 0 {
				if left == -1 {
					close(ended)
				}
				return nil, unavailable()
			}
			switch at := slices.IndexFunc(rows, func(r platform.Row) bool { return r.ID == q.After }); {
			case q.After == "":
				return newestFirst(q, rows), nil
			case d.old:
				return nil, platform.ErrCursorIgnored
			default:
				rows = rows[at+1:]
				return rows[:min(len(rows), q.Limit)], nil
			}
		}
		r := open(t, dir, d, c)
		select {
		case <-ended:
		case <-time.After(time.Minute): // it is read, and asked for from time to time
			whole = true
		}
		synctest.Wait()
		r.stop()
		time.Sleep(7 * time.Second)
	}
	return c.texts()
}

// TestNewestRowsOnly: of a platform that knows neither cursors nor times all is read that
// it has, as often as it is looked, and without asking on and on.
func TestNewestRowsOnly(t *testing.T) {
	d, c := &desk{}, &clerk{}
	for n := range 300 {
		d.put("", fmt.Sprint(n), func(r *platform.Row) { r.CreatedAt = time.Date(2000, 1, 1, 0, 0, n, 0, time.UTC) })
	}
	d.pages = func(q platform.RowQuery, rows []platform.Row) ([]platform.Row, error) {
		if q.After != "" {
			return nil, platform.ErrCursorIgnored
		}
		return rows[max(0, len(rows)-q.Limit):], nil
	}
	within(t, d, c, func(t *testing.T, r *room) {
		time.Sleep(4 * time.Second)
		d.put("", "300")
		time.Sleep(5 * time.Second)
		given := c.texts()
		if len(given) != 301 || given[0] != "0" || given[300] != "300" {
			t.Errorf("%d were given", len(given))
		}
		if n := look(d, func() int { return len(d.polls) }); n > 12 {
			t.Errorf("%d requests", n)
		}
	})
}

// TestInboxWithoutEnd: a platform that always has one more page, in whatever way, is left
// when as much was taken as is taken at once.
func TestInboxWithoutEnd(t *testing.T) {
	for name, before := range map[string]func(q platform.RowQuery, asked int) time.Time{
		"ever-older": func(_ platform.RowQuery, asked int) time.Time {
			return time.Now().Add(-time.Duration(asked) * 100 * time.Millisecond)
		},
		"older-by-nothing": func(_ platform.RowQuery, asked int) time.Time { return time.Now().Add(-time.Duration(asked)) },
		"as-asked-for":     func(q platform.RowQuery, _ int) time.Time { return q.Before },
		"by-the-window":    func(q platform.RowQuery, _ int) time.Time { return time.Now().Add(time.Second - q.Since) },
		"beyond-the-window": func(_ platform.RowQuery, asked int) time.Time {
			return time.Now().Add(-time.Duration(asked) * time.Hour)
		},
		"of-the-future": func(_ platform.RowQuery, asked int) time.Time {
			return time.Now().Add(time.Duration(asked) * 24 * 365 * time.Hour)
		},
		"of-no-time": func(platform.RowQuery, int) time.Time { return time.Time{} },
	} {
		t.Run(name, func(t *testing.T) {
			d, dir, asked := &desk{}, t.TempDir(), 0
			d.pages = func(q platform.RowQuery, _ []platform.Row) ([]platform.Row, error) {
				if asked++; asked > 1000 {
					return nil, unavailable()
				}
				if q.After != "" {
					return nil, platform.ErrCursorIgnored
				}
				at := before(q, asked)
				if at.IsZero() && name != "of-no-time" {
					at = time.Now()
				}
				page := make([]platform.Row, min(q.Limit, 100))
				for i := range page {
					page[i] = platform.Row{ID: fmt.Sprintf("row-%d-%d", asked, i), Method: "message/send", Summary: "x"}
					if !at.IsZero() {
						page[i].CreatedAt = at.Add(time.Duration(i-len(page)) * time.Microsecond)
					}
				}
				return page, nil
			}
			synctest.Test(t, func(t *testing.T) {
				r := open(t, dir, d, &clerk{busy: 1 << 30})
				defer r.stop()
				time.Sleep(15 * time.Second)
				n, err := r.store.InboxUnfinished(t.Context(), ours)
				if most := look(d, func() int { return asked }); most > 1000 || n == 0 && name != "beyond-the-window" || n > 5500 || err != nil {
					t.Errorf("%d pages were asked for, and %d rows accepted, %v", most, n, err)
				}
			})
		})
	}
}

// TestBoundsOfAWindow: of a window of many large rows no more than a page is in memory.
func TestBoundsOfAWindow(t *testing.T) {
	longtest.Mark(t)
	const rows, size = 60, 1 << 18
	for _, old := range []bool{false, true} {
		d, dir := &desk{old: old}, t.TempDir()
		most, base := uint64(0), heap()
		d.pages = func(q platform.RowQuery, all []platform.Row) ([]platform.Row, error) {
			most = max(most, heap())
			if q.Limit > 12 {
				return nil, platform.ErrTooMuch
			}
			switch at := slices.IndexFunc(all, func(r platform.Row) bool { return r.ID == q.After }); {
			case q.After == "":
				all = newestFirst(q, all)
			case d.old:
				return nil, platform.ErrCursorIgnored
			default:
				all = all[at+1:]
				all = all[:min(len(all), q.Limit)]
			}
			for i := range all {
				all[i].RequestBody, _ = json.Marshal(map[string]string{"text": strings.Repeat("x", size)})
			}
			return all, nil
		}
		synctest.Test(t, func(t *testing.T) {
			for n := range rows {
				d.put("peer", "", func(r *platform.Row) { r.CreatedAt = r.CreatedAt.Add(time.Duration(n-rows) * time.Second) })
			}
			r := open(t, dir, d, &clerk{busy: 1 << 30})
			defer r.stop()
			time.Sleep(time.Second)
			if n, err := r.store.InboxUnfinished(t.Context(), ours); n != rows || err != nil {
				t.Errorf("%d of %d rows were accepted, %v", n, rows, err)
			}
		})
		if held := (most - min(most, base)) / size; held > 24 {
			t.Errorf("as much as %d bodies of %d were held", held, rows)
		}
	}
}

// heap is how much is in use.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestCursorForgottenInACrowd: rows that have waited on the platform while too many were
// open, for longer than the window, are read when it has forgotten the cursor meanwhile,
// and a file of a reply was noted.
func TestCursorForgottenInACrowd(t *testing.T) {
	longtest.Mark(t)
	const rows = 250
	d, c, dir := &desk{}, &clerk{busy: 1 << 30}, t.TempDir()
	gone := false
	d.pages = func(q platform.RowQuery, all []platform.Row) ([]platform.Row, error) {
		switch at := slices.IndexFunc(all, func(r platform.Row) bool { return r.ID == q.After }); {
		case q.After == "":
			return newestFirst(q, all), nil
		case gone:
			gone = false
			return nil, platform.ErrCursorGone
		default:
			all = all[at+1:]
			return all[:min(len(all), q.Limit)], nil
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, dir)
		accept := func(state string, n int) {
			page := store.InboxPage{Workspace: ours}
			for i := range n {
				page.Rows = append(page.Rows, store.InboxRow{Activity: fmt.Sprint(state, i), Kind: "canvas", Chat: "crowd", State: state, Body: []byte("{}")})
			}
			if _, err := s.AcceptInbox(t.Context(), page); err != nil {
				t.Fatal(err)
			}
		}
		accept(store.InboxAccepted, 4900)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		r := open(t, dir, d, c)
		defer r.stop()
		d.put("", "first")
		time.Sleep(6 * time.Second)
		for n := range rows {
			d.put("", fmt.Sprint(n))
			time.Sleep(time.Millisecond)
		}
		time.Sleep(12 * time.Minute)
		s = r.store
		accept(store.InboxDrained, 1)
		if n, err := s.InboxUnfinished(t.Context(), ours); n != 5001 || err != nil {
			t.Errorf("%d rows are open, %v", n, err)
		}
		for n := range int64(4900) {
			if err := s.DrainInbox(t.Context(), n+1, ""); err != nil {
				t.Fatal(err)
			}
		}
		d.set(func() { gone = true })
		c.setBusy(0)
		time.Sleep(10 * time.Minute)
		given := slices.DeleteFunc(c.texts(), func(text string) bool { return text == "" })
		if len(given) != rows+1 || given[rows] != fmt.Sprint(rows-1) {
			t.Errorf("%d of %d were given", len(given), rows+1)
		}
	})
}
