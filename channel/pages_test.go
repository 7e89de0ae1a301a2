package channel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestPagesByTime reads what is more than a page, also where rows have the same time.
func TestPagesByTime(t *testing.T) {
	const rows = 520 // a page is 500
	d := &desk{old: true}
	synctest.Test(t, func(t *testing.T) {
		for n := range rows {
			d.put("", fmt.Sprint(n), func(r *platform.Row) { r.CreatedAt = r.CreatedAt.Add(time.Duration(n/7-rows) * time.Millisecond) })
		}
		s := openStore(t, t.TempDir())
		defer s.Close()
		c := &clerk{}
		if err := newChannel(t, s, d, c).Once(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		var want []string
		for n := range rows {
			want = append(want, fmt.Sprint(n))
		}
		if given := c.texts(); !slices.Equal(given, want) {
			t.Errorf("%d were given: %q", len(given), given)
		}
	})
}

// TestWithheldFile: the messages behind a file that a platform does not give wait for
// some minutes, and not for ever; in an outage they wait for its end.
func TestWithheldFile(t *testing.T) {
	d := &desk{}
	c := &clerk{}
	within(t, d, c, func(t *testing.T, _ *room) {
		d.put("", "", func(r *platform.Row) {
			r.Method = "chat_upload_receive"
			r.RequestBody, _ = json.Marshal(map[string]any{"uri": "platform-pending:ws-1/f1", "name": "withheld"})
		})
		d.put("", "look at it")
		time.Sleep(10 * time.Second)
		d.set(func() { d.fail = func(string) error { return unavailable() } })
		time.Sleep(20 * time.Minute)
		if given := c.texts(); len(given) != 0 {
			t.Errorf("given in the outage: %q", given)
		}
		d.set(func() { d.fail = nil })
		time.Sleep(8 * time.Minute)
		if given := c.texts(); !slices.Equal(given, []string{"look at it"}) {
			t.Errorf("given: %q", given)
		}
	})
}

// TestOnceWithLeftovers: rows and replies of a workspace that is none of ours any more
// are left, and not waited for.
func TestOnceWithLeftovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, t.TempDir())
		defer s.Close()
		row := store.InboxRow{Activity: "other", Kind: "canvas", Chat: "canvas:gone", State: store.InboxAccepted}
		if _, err := s.AcceptInbox(t.Context(), store.InboxPage{Workspace: "gone", Rows: []store.InboxRow{row}}); err != nil {
			t.Fatal(err)
		}
		d := &desk{fail: func(op string) error {
			if op == "notify" {
				return unavailable()
			}
			return nil
		}}
		d.put("", "one")
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := newChannel(t, s, d, &clerk{}).Once(ctx, nil); !errors.Is(err, channel.ErrUnsent) || ctx.Err() != nil {
			t.Errorf("Once: %v", err)
		}
	})
}

// A slowShelf has a platform behind it that gives files drop by drop.
type slowShelf struct{ shelf }

func (slowShelf) Fetch(ctx context.Context, _ channel.File) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	<-ctx.Done()
	return "", unavailable()
}

// TestSlowFile: what comes drop by drop is not begun again after five minutes.
func TestSlowFile(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d, c := &desk{}, &clerk{}
		r := open(t, dir, d, c, func(c *channel.Config) { c.Workspaces[0].Files = slowShelf{} })
		defer r.stop()
		d.put("", "", func(r *platform.Row) {
			r.Method, r.RequestBody = "chat_upload_receive", json.RawMessage(`{"uri":"platform-pending:ws-1/f1","name":"slow"}`)
		})
		d.put("", "look at it")
		time.Sleep(11 * time.Minute)
		if given := c.texts(); len(given) != 1 {
			t.Errorf("given: %q", given)
		}
	})
}

// TestPatientPolls: a page of the inbox that comes slowly is waited for, by place and by time.
func TestPatientPolls(t *testing.T) {
	for _, old := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := openStore(t, t.TempDir())
			defer s.Close()
			d, hasty := &desk{old: old}, 0
			d.pages = func(q platform.RowQuery, rows []platform.Row) ([]platform.Row, error) {
				if !q.Patient {
					hasty++
				}
				if old && q.After != "" {
					return nil, platform.ErrCursorIgnored
				}
				return rows, nil
			}
			d.put("", "one")
			for range 2 {
				if err := newChannel(t, s, d, &clerk{}).Once(t.Context(), nil); err != nil {
					t.Error(err)
				}
			}
			if polls := look(d, func() int { return len(d.polls) }); hasty > 0 || polls < 2 {
				t.Errorf("%d of %d are not waited for", hasty, polls)
			}
		})
	}
}

// TestManyLargeRows: a page that was too large is not asked for again with each row.
func TestManyLargeRows(t *testing.T) {
	const rows = 40
	d := &desk{}
	c := &clerk{}
	within(t, d, c, func(t *testing.T, _ *room) {
		d.put("", "0") // there is a cursor behind it
		time.Sleep(time.Minute)
		d.set(func() { d.most, d.polls, d.read = 3, nil, 0 })
		for n := range rows {
			d.put("", fmt.Sprint(n+1))
		}
		for len(c.texts()) <= rows {
			time.Sleep(time.Second)
		}
		d.set(func() { // answers are rows too, and more or fewer of them have come between
			if len(d.polls) > d.read*3/2 {
				t.Errorf("%d polls for %d rows", len(d.polls), d.read)
			}
		})
	})
}
