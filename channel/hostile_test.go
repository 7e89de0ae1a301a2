package channel_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestSamePages: a platform that has the same full pages without end is not asked
// without a pause.
func TestSamePages(t *testing.T) {
	d, c := &desk{}, &clerk{}
	for n := range 200 {
		d.put("", "x", func(r *platform.Row) { r.Method, r.ID = "notify", fmt.Sprintf("%03d", n) })
	}
	first := true
	d.pages = func(q platform.RowQuery, rows []platform.Row) ([]platform.Row, error) {
		if first = !first; first {
			return rows[:100], nil
		}
		return rows[100:], nil
	}
	within(t, d, c, func(t *testing.T, r *room) {
		time.Sleep(20 * time.Second)
		if n := look(d, func() int { return len(d.polls) }); n > 12 {
			t.Errorf("%d polls", n)
		}
	})
}

// TestPagesOfAMoment: neither rows of the same moment nor a platform whose pages are smaller
// than they are asked for hide older rows.
func TestPagesOfAMoment(t *testing.T) {
	for name, most := range map[string]int{"full": 500, "smaller": 100} {
		t.Run(name, func(t *testing.T) {
			d, c := &desk{}, &clerk{}
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				for n := range most + most/2 {
					d.put(fmt.Sprintf("p%d", n), "x", func(r *platform.Row) { r.CreatedAt = time.Now().Add(time.Duration(n/3) * time.Millisecond) })
				}
				d.pages = func(q platform.RowQuery, rows []platform.Row) ([]platform.Row, error) {
					if q.After != "" {
						rows = rows[1+slices.IndexFunc(rows, func(r platform.Row) bool { return r.ID == q.After }):]
						return rows[:min(len(rows), q.Limit)], nil
					}
					if !q.Before.IsZero() {
						rows = slices.DeleteFunc(rows, func(r platform.Row) bool { return !r.CreatedAt.Before(q.Before) })
					}
					return rows[max(0, len(rows)-min(most, q.Limit)):], nil
				}
				r := open(t, dir, d, c)
				defer r.stop()
				time.Sleep(4 * time.Second)
				if given := c.texts(); len(given) != most+most/2 {
					t.Errorf("%d of %d were given", len(given), most+most/2)
				}
			})
		})
	}
}

// TestCursorThatIsRefused is dropped like one that is forgotten.
func TestCursorThatIsRefused(t *testing.T) {
	d, c := &desk{}, &clerk{}
	d.pages = func(q platform.RowQuery, rows []platform.Row) ([]platform.Row, error) {
		if q.After != "" {
			return nil, &platform.Error{Status: 400}
		}
		return rows, nil
	}
	within(t, d, c, func(t *testing.T, r *room) {
		d.put("", "one")
		time.Sleep(11 * time.Second)
		d.put("", "two")
		time.Sleep(11 * time.Second)
		if told := d.told(); !slices.Equal(told, []string{"re: one", "re: two"}) {
			t.Errorf("the user was told %q", told)
		}
	})
}

// TestFileInAnOutage is waited for.
func TestFileInAnOutage(t *testing.T) {
	d, c := &desk{}, &clerk{}
	within(t, d, c, func(t *testing.T, r *room) {
		d.put("", "", func(r *platform.Row) {
			r.Method, r.RequestBody = "chat_upload_receive", json.RawMessage(`{"uri":"platform-pending:ws-1/f","name":"withheld"}`)
		})
		d.put("", "hello")
		time.Sleep(6 * time.Second)
		d.set(func() { d.fail = func(string) error { return unavailable() } })
		time.Sleep(10 * time.Second) // it is known by then
		before := c.asked.Load()
		time.Sleep(time.Hour)
		if given := c.texts(); len(given) != 0 || c.asked.Load() != before {
			t.Errorf("given: %q; the file was asked for %d times", given, c.asked.Load()-before)
		}
	})
}

// TestSameWords: a reply whose arrival is not known is not taken for an earlier one of
// the same words.
func TestSameWords(t *testing.T) {
	d, c := &desk{}, &clerk{}
	within(t, d, c, func(t *testing.T, r *room) {
		d.put("", "one")
		time.Sleep(time.Second)
		d.put("", "one")
		time.Sleep(4*time.Second - time.Millisecond)
		failed := false
		d.set(func() {
			d.fail = func(op string) error {
				if op == "notify" && !failed {
					failed = true
					return unavailable()
				}
				return nil
			}
		})
		time.Sleep(time.Minute)
		if told := d.told(); !slices.Equal(told, []string{"re: one", "re: one"}) {
			t.Errorf("the user was told %q", told)
		}
	})
}

// TestLeave: a workspace that is gone is left alone, and the others are not.
func TestLeave(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, dir)
		defer s.Close()
		gone, stays := &desk{}, &desk{}
		ch := channel.New(channel.Config{Store: s, Engine: &clerk{}, Workspaces: []channel.Workspace{
			{ID: "gone", Platform: gone, Files: shelf{}}, {ID: "stays", Platform: stays, Files: shelf{}},
		}})
		quit := make(chan struct{})
		var running sync.WaitGroup
		running.Go(func() {
			if err := ch.Run(t.Context(), quit, func(context.Context) error { return nil }); err != nil {
				t.Error(err)
			}
		})
		time.Sleep(time.Minute)
		ch.Leave("gone")
		time.Sleep(time.Second)
		polls := look(gone, func() int { return len(gone.polls) })
		for _, d := range []*desk{gone, stays} {
			d.put("", "hello", func(r *platform.Row) { r.Workspace = "" })
		}
		time.Sleep(time.Hour)
		if n := look(gone, func() int { return len(gone.polls) }); n != polls || len(gone.told()) != 0 || len(stays.told()) != 1 {
			t.Errorf("%d polls of it later; %q, %q", n-polls, gone.told(), stays.told())
		}
		close(quit)
		running.Wait()
	})
}

// TestClockPutBack: a cursor that is lost after that has all of the inbox read again.
func TestClockPutBack(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		later := func() time.Time { return time.Now().Add(48 * time.Hour) }
		s, err := store.Open(t.Context(), store.Config{Dir: dir, Now: later})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.AcceptInbox(t.Context(), store.InboxPage{Workspace: ours, Cursor: "lost", Read: later()}); err != nil {
			t.Fatal(err)
		}
		d := &desk{}
		d.pages = func(q platform.RowQuery, rows []platform.Row) ([]platform.Row, error) {
			if q.After != "" {
				return nil, platform.ErrCursorGone
			}
			return slices.DeleteFunc(rows, func(r platform.Row) bool { return time.Since(r.CreatedAt) > q.Since }), nil
		}
		d.put("", "long ago", func(r *platform.Row) { r.CreatedAt = time.Now().Add(-5 * time.Hour) })
		if err := newChannel(t, s, d, &clerk{}).Once(t.Context(), nil); err != nil || len(d.told()) != 1 {
			t.Errorf("%v: the user was told %q", err, d.told())
		}
	})
}

// TestOldRow: a row with more than a message may have, which an earlier version has
// accepted, is refused without being given, and nothing of it is left.
func TestOldRow(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, dir)
		body, _ := json.Marshal(map[string]string{"text": strings.Repeat("\ufdfa", 2<<20)})
		row := store.InboxRow{Activity: "old", Kind: "peer", Chat: "peer:p", Peer: "p", Body: body, State: store.InboxAccepted}
		if _, err := s.AcceptInbox(t.Context(), store.InboxPage{Workspace: ours, Rows: []store.InboxRow{row}}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		d, c := &desk{}, &clerk{}
		r := open(t, dir, d, c)
		defer r.stop()
		time.Sleep(10 * time.Second)
		letters := d.letters()
		if len(letters) != 1 || !strings.HasPrefix(letters[0].Text, "[codex error] the message has 2097152 characters") || len(c.texts()) != 0 {
			t.Errorf("the peer was told %v, and %d were given", letters, len(c.texts()))
		}
		if open, err := r.store.InboxOpen(t.Context(), "peer:p", 0, 1); len(open) != 0 || err != nil {
			t.Errorf("%d rows are left, %v", len(open), err)
		}
	})
}
