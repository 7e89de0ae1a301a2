package channel_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// TestRowsThatWaitAreNotHeld: what other agents send lies in the store and not in memory
// while it waits, also after a restart, and by whatever methods it is sent.
func TestRowsThatWaitAreNotHeld(t *testing.T) {
	longtest.Mark(t)
	const peers, rows, unknown, size = 3, 12, 60, 1 << 17
	d, c, dir := &desk{}, &clerk{busy: 1 << 30}, t.TempDir()
	large := strings.Repeat("large ", size/6)
	base, routines := heap(), runtime.NumGoroutine()
	check := func(t *testing.T, r *room, when string) {
		time.Sleep(time.Minute)
		synctest.Wait()
		if n, err := r.store.InboxUnfinished(t.Context(), ours); n != peers*rows+unknown || err != nil {
			t.Errorf("%s: %d rows wait, %v", when, n, err)
		}
		if held := (max(heap(), base) - base) / size; held > 16 {
			t.Errorf("%s: as much as %d bodies are held", when, held)
		}
		if n := runtime.NumGoroutine() - routines; n > 30 {
			t.Errorf("%s: %d goroutines", when, n)
		}
	}
	d.pages = func(q platform.RowQuery, all []platform.Row) ([]platform.Row, error) { // the desk itself has no large rows
		all = all[1+slices.IndexFunc(all, func(r platform.Row) bool { return r.ID == q.After }):]
		all = all[:min(len(all), 8)]
		for i := range all {
			if all[i].Method == "message/send" {
				all[i].RequestBody, all[i].Summary = nil, large
			}
		}
		return all, nil
	}
	synctest.Test(t, func(t *testing.T) {
		r := open(t, dir, d, c)
		for n := range peers * rows {
			d.put(fmt.Sprint("peer", n%peers), "")
		}
		for n := range unknown {
			d.put("peer0", fmt.Sprint("odd ", n), func(r *platform.Row) { r.Method = "foo/bar" })
		}
		check(t, r, "at first")
		r.stop()
		r = open(t, dir, d, c)
		defer r.stop()
		check(t, r, "after a restart")
		c.setBusy(0)
		time.Sleep(time.Minute)
		var odd []string
		for _, text := range c.texts() {
			if _, said, ok := strings.Cut(text, "odd "); ok {
				number, _, _ := strings.Cut(said, "\n")
				odd = append(odd, number)
			}
		}
		if n := len(c.texts()); n != peers*rows+unknown || len(odd) != unknown || odd[0] != "0" || odd[unknown-1] != fmt.Sprint(unknown-1) {
			t.Errorf("%d were given, of unknown methods %q", n, odd)
		}
	})
}

// A slowClerk takes a minute for what is another agent's, as where its files come slowly.
type slowClerk struct {
	*clerk
	now, most atomic.Int32
}

func (c *slowClerk) Give(ctx context.Context, m channel.Message) (string, error) {
	if m.Peer != "" {
		c.most.Store(max(c.most.Load(), c.now.Add(1)))
		defer c.now.Add(-1)
		time.Sleep(time.Minute)
	}
	return c.clerk.Give(ctx, m)
}

// TestLargeRowsInTurn: a few large rows of other agents are handed in at once. The user's,
// and small ones, do not wait for them.
func TestLargeRowsInTurn(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d, c := &desk{}, &slowClerk{clerk: &clerk{}}
		r := open(t, dir, d, c.clerk, func(cfg *channel.Config) { cfg.Engine = c })
		defer r.stop()
		large := strings.Repeat("large ", 20_000)
		for n := range 6 {
			d.put(fmt.Sprint("peer", n), large)
		}
		d.put("", large)
		time.Sleep(10 * time.Second)
		if given := c.texts(); len(given) != 1 || c.most.Load() != 2 {
			t.Errorf("%d given, %d at once", len(given), c.most.Load())
		}
		d.put("peer9", "small")
		time.Sleep(6 * time.Second)
		if n := c.now.Load(); n != 3 {
			t.Errorf("%d are handed in beside a small one", n)
		}
		time.Sleep(10 * time.Minute)
		if given := c.texts(); len(given) != 8 || c.most.Load() != 3 {
			t.Errorf("%d given, %d at once", len(given), c.most.Load())
		}
	})
}

// fill has the store of a channel hold a small row of a chat that waits, and large ones
// behind it that are damaged, so that they cost nothing but their bytes.
func fill(t *testing.T, dir, kind, chat, peer string, sizes ...int) {
	t.Helper()
	s := openStore(t, dir)
	page := store.InboxPage{Workspace: ours}
	for n, size := range append([]int{0}, sizes...) {
		row := store.InboxRow{Activity: fmt.Sprint("filled", n), Kind: kind, Chat: chat, Peer: peer, Body: make([]byte, size), State: store.InboxAccepted}
		if n == 0 {
			row.Body = []byte(`{"text":"first"}`)
		}
		page.Rows = append(page.Rows, row)
	}
	if _, err := s.AcceptInbox(t.Context(), page); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestBoundsOfAPeersBytes: of what another agent sends beyond its share only the refusal is kept,
// which it is told, and the user's messages behind that are taken.
func TestBoundsOfAPeersBytes(t *testing.T) {
	longtest.Mark(t)
	d, c, dir := &desk{}, &clerk{busy: 1 << 30}, t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		fill(t, dir, "peer", "peer:p", "p", 61<<20)
		r := open(t, dir, d, c)
		defer r.stop()
		large := strings.Repeat("x", 1<<20)
		for range 5 {
			d.put("p", large)
		}
		d.put("p", "small")
		d.put("", "hello")
		time.Sleep(10 * time.Second)
		n, failed := r.store.InboxUnfinished(t.Context(), ours)
		bytes, err := r.store.InboxBytes(t.Context(), ours)
		if n != 9 || bytes > 64<<20 || bytes < 63<<20 || failed != nil || err != nil {
			t.Errorf("%d rows of %d MiB are kept, %v, %v", n, bytes>>20, failed, err)
		}
		c.setBusy(0)
		time.Sleep(time.Minute)
		if told, given := d.told(), c.texts(); !slices.Equal(told, []string{"re: hello"}) || len(given) != 5 {
			t.Errorf("the user was told %q, %d were given", told, len(given))
		}
		letters := d.letters()
		refused := slices.DeleteFunc(slices.Clone(letters), func(m platform.Message) bool {
			return !strings.HasPrefix(m.Text, "[codex error] too much that other agents have sent waits here already")
		})
		if len(letters) != 7 || len(refused) != 3 || letters[6].Text != "re: small" {
			t.Errorf("the peer was told %d things, %d of them refusals", len(letters), len(refused))
		}
		d.put("p", large)
		time.Sleep(10 * time.Second)
		if given := c.texts(); len(given) != 6 || len(given[5]) != len(large) {
			t.Errorf("with its share free again, %d were given", len(given))
		}
	})
}

// TestBoundsOfAnInbox: with too much that is not answered the rest waits on the platform, and
// comes in its order.
func TestBoundsOfAnInbox(t *testing.T) {
	longtest.Mark(t)
	d, c, dir := &desk{}, &clerk{busy: 1 << 30}, t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		fill(t, dir, "canvas", "canvas:"+ours, "", 128<<20, 128<<20)
		r := open(t, dir, d, c)
		defer r.stop()
		d.put("", "one")
		d.put("", "two")
		time.Sleep(10 * time.Second)
		if n, err := r.store.InboxUnfinished(t.Context(), ours); n != 3 || err != nil {
			t.Errorf("%d rows were taken, %v", n, err)
		}
		c.setBusy(0)
		time.Sleep(time.Minute)
		if given := c.texts(); !slices.Equal(given, []string{"first", "one", "two"}) {
			t.Errorf("given: %q", given)
		}
	})
}

// TestTasksOfAnother: what another engine's tasks have yet to say is left for it.
func TestTasksOfAnother(t *testing.T) {
	dir, d, c := t.TempDir(), &desk{}, &clerk{}
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, dir)
		row := store.InboxRow{Activity: "a", Kind: "canvas", Chat: "c", Body: []byte("{}"), State: store.InboxAccepted}
		_, err := s.AcceptInbox(t.Context(), store.InboxPage{Workspace: ours, Rows: []store.InboxRow{row}})
		errGiven := s.MarkInboxGiven(t.Context(), 1, "theirs")
		_, errKeep := s.AnswerInbox(t.Context(), 1, store.InboxReply{ID: "q", Workspace: ours, Chat: "c", Task: "theirs", Body: []byte("{}")})
		if err := errors.Join(err, errGiven, errKeep, s.Close()); err != nil {
			t.Fatal(err)
		}
		r := open(t, dir, d, c, func(cfg *channel.Config) { cfg.Has = func(task string) bool { return task != "theirs" } })
		time.Sleep(time.Minute)
		r.stop()
		s = openStore(t, dir)
		defer s.Close()
		if left, err := s.InboxTasks(t.Context()); err != nil || len(left) != 1 {
			t.Errorf("%+v, %v", left, err)
		}
	})
}
