package desk_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/channel/desk"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const ours = "ws-1"

// A book is what the store knows.
type book struct {
	mu      sync.Mutex
	rows    map[string]store.InboxRow
	given   []int64
	notes   map[int64]string
	commits []bool // whether each was to be on the disk at once
	fail    error

	everywhere map[string]bool // the rows that every workspace has
}

func (b *book) InboxRowOf(_ context.Context, workspace, activity string) (store.InboxRow, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	row, ok := b.rows[activity]
	if !ok || workspace != ours && !b.everywhere[activity] {
		return row, store.ErrUnknown
	}
	return row, nil
}

func (b *book) InboxGivenRows(context.Context, string, int) ([]int64, error) { return b.given, nil }

func (b *book) NoteInbox(_ context.Context, notes map[int64]string, atOnce bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.commits = append(b.commits, atOnce)
	if b.fail == nil {
		maps.Copy(b.notes, notes)
	}
	return b.fail
}

// A clerk does what the channel does: it gives messages, and keeps what becomes of them.
type clerk struct {
	t    *testing.T
	desk *desk.Desk
	book *book
	wg   sync.WaitGroup

	mu   sync.Mutex
	kept []channel.Answer
	hold chan struct{} // keeps what is to be kept from the store, until it is closed
}

func open(t *testing.T, given ...int64) *clerk {
	t.Helper()
	c := &clerk{t: t, book: &book{rows: map[string]store.InboxRow{}, given: given, notes: map[int64]string{}}}
	var err error
	if c.desk, err = desk.New(t.Context(), desk.Config{Journal: c.book, Workspaces: []string{"other", ours}}); err != nil {
		t.Fatal(err)
	}
	return c
}

// put gives a message, and follows it.
func (c *clerk) put(n int64, change ...func(*channel.Message)) {
	c.t.Helper()
	m := channel.Message{ID: fmt.Sprintf("m%d", n), Workspace: ours, Text: fmt.Sprintf("text %d", n), N: n, Kind: "canvas"}
	for _, f := range change {
		f(&m)
	}
	task, err := c.desk.Give(c.t.Context(), m)
	if err != nil {
		c.t.Fatalf("message %d: %v", n, err)
	}
	c.wg.Go(func() {
		_ = c.desk.Follow(c.t.Context(), task, func(a channel.Answer) error {
			if c.hold != nil {
				<-c.hold
			}
			c.mu.Lock()
			c.kept = append(c.kept, a)
			c.mu.Unlock()
			c.book.mu.Lock()
			defer c.book.mu.Unlock()
			state := store.InboxAnswered
			if a.Read {
				state = store.InboxDrained
			}
			c.book.rows[m.ID] = store.InboxRow{Activity: m.ID, State: state, Reply: a.ID}
			return nil
		})
	})
}

func (c *clerk) texts() (out []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.kept {
		out = append(out, a.Text)
	}
	return out
}

// first waits for a message, and says which comes.
func (c *clerk) first(limit time.Duration) string {
	c.t.Helper()
	seen, err := c.desk.Wait(c.t.Context(), limit)
	if errors.Is(err, desk.ErrNone) {
		return ""
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return seen.ID
}

func from(peer string) func(*channel.Message) { return func(m *channel.Message) { m.Peer = peer } }

func text(s string) func(*channel.Message) { return func(m *channel.Message) { m.Text = s } }

// TestWaiting: messages are shown in the order of acceptance, whichever is given first, until they are answered or taken
// off; one that comes ends a wait, and so do its limit and its context.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		began := time.Now()
		if got := c.first(time.Minute); got != "" || time.Since(began) != time.Minute {
			t.Errorf("got %q after %s", got, time.Since(began))
		}
		time.AfterFunc(time.Second, func() { c.put(2) })
		began = time.Now()
		if got := c.first(time.Minute); got != "m2" || time.Since(began) != time.Second {
			t.Errorf("got %q after %s", got, time.Since(began))
		}
		c.put(1)
		c.put(3)
		if seen, err := c.desk.Wait(t.Context(), 0); err != nil || seen.ID != "m1" || seen.Behind != 2 {
			t.Errorf("got %+v, %v", seen, err)
		}
		if all, more := c.desk.Peek(0, 2, every); len(all) != 2 || all[1].ID != "m2" || !more {
			t.Errorf("peek: %+v, %v", all, more)
		}
		if _, fate, err := c.desk.Reply(t.Context(), desk.Name{ID: "m1"}, "one"); err != nil || fate != desk.Kept {
			t.Errorf("reply: %v, %v", fate, err)
		}
		if _, _, err := c.desk.Pop(t.Context(), desk.Name{ID: "m2"}); err != nil {
			t.Errorf("pop: %v", err)
		}
		if got := c.first(0); got != "m3" {
			t.Errorf("got %q", got)
		}
		for id, want := range map[string]desk.Fate{"m1": desk.Kept, "m2": desk.Closed, "m3": desk.Waiting, "m4": desk.Unknown} {
			if got, err := c.desk.Fate(t.Context(), desk.Name{ID: id}); got != want || err != nil {
				t.Errorf("%s: %v, %v", id, got, err)
			}
		}
		if _, fate, err := c.desk.Reply(t.Context(), desk.Name{ID: "m1"}, "anew"); !errors.Is(err, desk.ErrNotThere) || fate != desk.Kept {
			t.Errorf("a second reply: %v, %v", fate, err)
		}
		_, _, _ = c.desk.Reply(t.Context(), desk.Name{ID: "m3"}, "three")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := c.desk.Wait(ctx, time.Minute); !errors.Is(err, context.Canceled) {
			t.Errorf("given up: %v", err)
		}
		time.AfterFunc(time.Second, func() { c.desk.Close() })
		if _, err := c.desk.Wait(t.Context(), time.Minute); !errors.Is(err, desk.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		if got := c.texts(); !slices.Equal(got, []string{"one", "", "three"}) {
			t.Errorf("kept %q", got)
		}
		c.wg.Wait()
	})
}

// TestBack: what lay on the desk of an earlier process comes before what came later, for a while.
func TestBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, 1, 2)
		c.put(3)
		time.AfterFunc(time.Second, func() { c.put(2); c.put(1) })
		if got := c.first(time.Minute); got != "m1" {
			t.Errorf("got %q", got)
		}
		c = open(t, 1)
		c.put(3)
		began := time.Now()
		if got := c.first(time.Minute); got != "m3" || time.Since(began) != 2*time.Second {
			t.Errorf("of one that never comes back, got %q after %s", got, time.Since(began))
		}
	})
}

func every(channel.Message) bool { return true }

// TestFair: the user waits for no other agent, and an agent for one message of each other one, whatever comes from the
// store, and however much other agents send.
func TestFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, 1, 9)
		for n := int64(2); n <= 5; n++ {
			c.put(n, from("p"))
		}
		c.put(6, from("q"))
		c.put(7, from("q"))
		c.put(8)
		time.AfterFunc(time.Second, func() { c.put(9); c.put(1, from("P")) })
		next := func() string {
			id := c.first(time.Minute)
			if _, _, err := c.desk.Pop(t.Context(), desk.Name{ID: id}); err != nil {
				t.Fatal(err)
			}
			return id
		}
		var got []string
		for range 6 {
			got = append(got, next())
		}
		if want := []string{"m8", "m9", "m1", "m6", "m2", "m7"}; !slices.Equal(got, want) {
			t.Errorf("shown as %q, want %q", got, want)
		}
		c.put(10, from("q"))
		c.put(11)
		all, more := c.desk.Peek(1, 2, every)
		if len(all) != 2 || all[0].ID != "m3" || all[1].ID != "m10" || !more {
			t.Errorf("from the second on: %+v", all)
		}
		all, more = c.desk.Peek(0, 9, func(m channel.Message) bool { return m.Peer == "" })
		if len(all) != 1 || all[0].ID != "m11" || more {
			t.Errorf("of the user: %+v", all)
		}
		if all, _ = c.desk.Peek(99, 9, every); len(all) != 0 {
			t.Errorf("behind the last: %+v", all)
		}
		for range 5 {
			next()
		}
		c.wg.Wait()
	})
}

// TestRoom: a desk has a bound for users and for other agents each, and takes more when something has gone.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		give := func(n int64, change ...func(*channel.Message)) error {
			m := channel.Message{ID: fmt.Sprintf("m%d", n), Workspace: ours, N: n}
			for _, f := range change {
				f(&m)
			}
			_, err := c.desk.Give(ctx, m)
			return err
		}
		for n := range int64(200) {
			if err := give(n, from("p")); err != nil {
				t.Fatal(err)
			}
		}
		if err := give(200, from("p")); !errors.Is(err, channel.ErrNotNow) {
			t.Errorf("one too many: %v", err)
		}
		if seen, _ := c.desk.Wait(ctx, 0); !seen.More {
			t.Error("it is not said that more wait")
		}
		if err := give(201); err != nil {
			t.Errorf("of a user: %v", err)
		}
		large := strings.Repeat("x", 33<<20)
		if err := give(202, text(large)); !errors.Is(err, channel.ErrNotNow) {
			t.Errorf("a large one beside another: %v", err)
		}
		if _, err := c.desk.Give(ctx, channel.Message{ID: "m0", Workspace: ours, Peer: "p"}); err != nil {
			t.Errorf("the same again: %v", err)
		}
	})
}

// TestUnkept: what could not be kept yet is not forgotten, and nothing else is taken for that message meanwhile.
func TestUnkept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		c.hold = make(chan struct{})
		c.put(1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, fate, err := c.desk.Reply(ctx, desk.Name{ID: "m1"}, "one"); err == nil || fate != desk.Leaving {
			t.Errorf("reply: %v, %v", fate, err)
		}
		if _, fate, err := c.desk.Reply(t.Context(), desk.Name{ID: "m1"}, "two"); !errors.Is(err, desk.ErrNotThere) || fate != desk.Leaving {
			t.Errorf("another: %v, %v", fate, err)
		}
		if got := c.first(time.Second); got != "" {
			t.Errorf("shown again: %s", got)
		}
		c.put(2)
		time.AfterFunc(time.Second, c.desk.Close)
		if _, _, err := c.desk.Reply(t.Context(), desk.Name{ID: "m2"}, "two"); !errors.Is(err, desk.ErrClosed) {
			t.Errorf("when the inbox is given up: %v", err)
		}
		close(c.hold)
		c.wg.Wait()
		if got := c.texts(); !slices.Contains(got, "one") {
			t.Errorf("kept %q", got)
		}
	})
}

// TestTelling: what a sender is told on another way is noted with the messages of theirs that were shown.
func TestTelling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t)
		c.put(1)
		c.put(2, from("p"))
		if told, err := c.desk.Telling(t.Context(), ours, "", "hi"); err != nil || len(c.book.notes) != 0 {
			t.Errorf("before a message is shown: %v, %v", err, c.book.notes)
		} else {
			told(nil)
		}
		c.first(0)
		told, err := c.desk.Telling(t.Context(), ours, "", "four")
		if err != nil || !strings.Contains(c.book.notes[1], "Whether it arrived is not known") {
			t.Errorf("%v, %v", err, c.book.notes)
		}
		told(nil)
		if seen, _ := c.desk.Look(t.Context(), desk.Name{ID: "m1"}); !strings.Contains(seen.Note, `you sent this sender: "four"`) || c.book.notes[1] != seen.Note || c.book.notes[2] != "" {
			t.Errorf("%q, %v", seen.Note, c.book.notes)
		}
		was := c.book.notes[1]
		told, _ = c.desk.Telling(t.Context(), ours, "", "five")
		told(&platform.Error{Op: "notify", Status: 403})
		if c.book.notes[1] != was {
			t.Errorf("of what was refused there is %q", c.book.notes[1])
		}
		told, _ = c.desk.Telling(t.Context(), ours, "", "six")
		told(&platform.Error{Op: "notify", Status: 502})
		if !strings.Contains(c.book.notes[1], `"six"`) || !strings.Contains(c.book.notes[1], "not known") {
			t.Errorf("of what may have arrived there is %q", c.book.notes[1])
		}
		c.book.fail = store.ErrFull
		if _, err := c.desk.Telling(t.Context(), ours, "", "seven"); !errors.Is(err, store.ErrFull) {
			t.Errorf("what cannot be noted: %v", err)
		}
		c.desk.Leave(ours)
		if got := c.first(time.Second); got != "" {
			t.Errorf("of a workspace that is gone there is %s", got)
		}
		if fate, _ := c.desk.Fate(t.Context(), desk.Name{ID: "m1"}); fate != desk.Gone {
			t.Errorf("its fate is %v", fate)
		}
	})
}
