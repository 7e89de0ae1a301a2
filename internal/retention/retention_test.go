package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/rollout"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// someThreads are an executor's: err keeps it from letting go of one, and fails from deleting one,
// or only that which is stuck.
type someThreads struct {
	err     error
	fails   error
	stuck   string
	deleted []string
	dropped []string
}

func (s *someThreads) Forget(context.Context, string) error { return s.err }

func (s *someThreads) Drop(_ context.Context, key string) error {
	s.dropped = append(s.dropped, key)
	return s.err
}

func (s *someThreads) Delete(_ context.Context, thread string) error {
	if s.fails != nil && (s.stuck == "" || s.stuck == thread) {
		return s.fails
	}
	s.deleted = append(s.deleted, thread)
	return nil
}

func TestTidy(t *testing.T) {
	ctx, home := t.Context(), t.TempDir()
	s := openStore(t)
	defer s.Close()
	const old = "01a1fdb0-fdfb-7181-b145-979588c98a06"
	m := store.Message{Key: store.Key{Message: "m"}, TaskID: "t", Job: "j", Conversation: "c", Body: []byte("{}")}
	if err := s.Accept(ctx, m, store.Head{ID: "t", Context: "c", Conversation: "c", State: "working"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Begin(ctx, "j", 1, "c", old, "", ""); err != nil {
		t.Fatal(err)
	}
	day := filepath.Join(home, "sessions", "2026", "01", "02")
	if err := os.MkdirAll(day, 0o700); err != nil {
		t.Fatal(err)
	}
	file, other := filepath.Join(day, "rollout-x-"+old+".jsonl"), filepath.Join(day, "rollout-x-other.jsonl")
	for _, path := range []string{file, other} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	threads := &someThreads{}
	h := &Keeper{store: s, threads: threads, files: rollout.Home{Dir: home}, isPeers: isPeers, log: slog.New(slog.DiscardHandler)}
	tidied := func() bool {
		t.Helper()
		if err := h.tidy(ctx, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if err := h.sweep(ctx); err != nil && !errors.Is(err, threads.fails) {
			t.Fatal(err)
		}
		_, err := os.Stat(file)
		return os.IsNotExist(err)
	}
	if tidied() {
		t.Error("the thread of a running task was deleted")
	}
	if err := s.Write(ctx, store.Change{Head: &store.Head{ID: "t", State: "completed", Ended: true}, Ended: []string{"j"}}); err != nil {
		t.Fatal(err)
	}
	threads.err = executor.ErrBusy
	if err := h.tidy(ctx, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	threads.err = nil
	if _, err := os.Stat(file); err != nil {
		t.Error("the thread of a conversation that the executor uses was deleted")
	}
	for _, threads.fails = range []error{codex.ErrNoCodex, errors.New("codex ends")} {
		if !tidied() {
			t.Errorf("%v: the file of the thread is still there", threads.fails)
		}
		if left, err := s.LeftoverThreads(ctx, 1); err != nil || !slices.Equal(left, []string{old}) {
			t.Errorf("%v: %v, %v: codex's databases keep it", threads.fails, left, err)
		}
	}
	threads.fails = nil
	if !tidied() || !slices.Equal(threads.deleted, []string{old}) {
		t.Errorf("the thread of a forgotten conversation is still there; codex has deleted %v", threads.deleted)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	if left, err := s.Threads(ctx); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	if len(threads.dropped) > 0 {
		t.Error("what runs in the user's conversation would have been ended")
	}
}

func openStore(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func isPeers(conversation string) bool { return strings.HasPrefix(conversation, "peer:") }

// TestSurplus: where there is no room, other agents' conversations go beyond their share, and then
// those that were used longest ago, but for the user's of the last hour.
func TestSurplus(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		all  []string // name, hours since it was used, bytes
		want []string
	}{
		"room":           {[]string{"a 0 50", "peer:b 1 25", "c 9 25"}, nil},
		"share-of-peers": {[]string{"peer:a 0 10", "peer:b 0 10", "peer:c 9 10"}, []string{"peer:c"}},
		"all-of-them":    {[]string{"peer:a 0 30", "b 99 10"}, []string{"peer:a"}},
		"oldest":         {[]string{"a 0 50", "b 2 40", "c 3 30", "d 4 30"}, []string{"d", "c"}},
		"peers-first":    {[]string{"a 0 10", "peer:c 1 20", "b 2 80", "peer:d 3 20"}, []string{"peer:d", "b"}},
		"fresh":          {[]string{"a 0 90", "b 0 90", "peer:c 0 20"}, []string{"peer:c"}},
		"without-files":  {[]string{"a 0 110", "b 2 0", "peer:c 9 0"}, nil},
		"nothing-for-it": {[]string{"peer:empty 9 0", "peer:big 0 90"}, []string{"peer:big"}},
	} {
		var all []store.UsedConversation
		sizes := map[string]int64{}
		for _, line := range c.all {
			var key string
			var hours, bytes int64
			if _, err := fmt.Sscan(line, &key, &hours, &bytes); err != nil {
				t.Fatal(err)
			}
			all = append(all, store.UsedConversation{Key: key, Thread: "of " + key, Used: now.Add(-time.Duration(hours)*time.Hour - time.Minute)})
			sizes["of "+key] = bytes
		}
		h := &Keeper{most: func() int64 { return 100 }, isPeers: isPeers}
		var got []string
		for _, goes := range h.surplus(all, sizes, now) {
			got = append(got, goes.Key)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v go, want %v", name, got, c.want)
		}
	}
}

// A house has conversations with other agents.
type house struct {
	*Keeper
	t       *testing.T
	threads *someThreads
	day     string // the folder of threads' files
}

func newHouse(t *testing.T, most int64) *house {
	t.Helper()
	s, home := openStore(t), t.TempDir()
	t.Cleanup(func() { _ = s.Close() })
	h := &house{t: t, threads: &someThreads{}, day: filepath.Join(home, "sessions", "2026", "01", "02")}
	h.Keeper = &Keeper{store: s, threads: h.threads, files: rollout.Home{Dir: home}, most: func() int64 { return most }, isPeers: isPeers, log: slog.New(slog.DiscardHandler)}
	if err := os.MkdirAll(h.day, 0o700); err != nil {
		t.Fatal(err)
	}
	return h
}

// converse makes a conversation whose turn has ended.
func (h *house) converse(i int) (thread string) {
	h.t.Helper()
	ctx, id := h.t.Context(), fmt.Sprint("c", i)
	thread = fmt.Sprintf("01a1fdb0-fdfb-7181-b145-%012d", i)
	m := store.Message{Key: store.Key{Message: id}, TaskID: id, Job: id, Conversation: "peer:" + id, Body: []byte("{}")}
	if err := errors.Join(
		h.store.Accept(ctx, m, store.Head{ID: id, Context: id, Conversation: m.Conversation, State: "working"}),
		h.store.Begin(ctx, id, 1, m.Conversation, thread, "", ""),
		h.store.Write(ctx, store.Change{Head: &store.Head{ID: id, State: "completed", Ended: true}, Ended: []string{id}}),
	); err != nil {
		h.t.Fatal(err)
	}
	return thread
}

func (h *house) file(thread, content string) {
	h.t.Helper()
	if err := os.WriteFile(filepath.Join(h.day, "rollout-x-"+thread+".jsonl"), []byte(content), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// round is what is done each minute.
func (h *house) round() error {
	return errors.Join(h.makeRoom(h.t.Context(), time.Now()), h.sweep(h.t.Context()))
}

// TestMuchSurplus goes in one round, however much it is, and what cannot be forgotten holds up no
// other.
func TestMuchSurplus(t *testing.T) {
	const many = 250
	h := newHouse(t, 40)
	for i := range many {
		h.file(h.converse(i), "0123456789")
	}
	h.threads.err = errors.New("not now")
	if err := h.round(); !errors.Is(err, h.threads.err) || len(err.Error()) > 100 {
		t.Errorf("%v", err)
	}
	h.threads.err = nil
	if err := h.round(); err != nil { // though nothing was used since
		t.Error(err)
	}
	left, err := os.ReadDir(h.day)
	if err != nil || len(left) != 1 || len(h.threads.deleted) != many-1 {
		t.Errorf("%d files are left, codex has deleted %d, %v", len(left), len(h.threads.deleted), err)
	}
}

// TestSubagentsHaveTheRoomOfTheirConversation: their threads are no conversation's, and count.
func TestSubagentsHaveTheRoomOfTheirConversation(t *testing.T) {
	h := newHouse(t, 1000)
	thread := h.converse(1)
	h.file(thread, "{}")
	if err := h.round(); err != nil || len(h.threads.deleted) > 0 {
		t.Errorf("%v, deleted %v", err, h.threads.deleted)
	}
	h.file("02a1fdb0-fdfb-7181-b145-000000000001", `{"type":"session_meta","payload":{"session_id":"`+thread+`"`+strings.Repeat(" ", 300))
	if err := h.round(); err != nil || !slices.Equal(h.threads.deleted, []string{thread}) {
		t.Errorf("%v, deleted %v", err, h.threads.deleted)
	}
	if want := []string{"peer:c1"}; !slices.Equal(h.threads.dropped, want) { // a command that runs in it would keep it else
		t.Errorf("dropped are %v", h.threads.dropped)
	}
}

// TestThreadThatStays holds up no other, and one that codex refuses to delete leaves the list.
func TestThreadThatStays(t *testing.T) {
	h := newHouse(t, 0)
	var threads []string
	for i := range 3 {
		threads = append(threads, h.converse(i))
		h.file(threads[i], "{}")
	}
	h.threads.stuck, h.threads.fails = threads[0], errors.New("no answer")
	if err := h.round(); !errors.Is(err, h.threads.fails) || len(h.threads.deleted) != 2 {
		t.Errorf("deleted are %v, %v", h.threads.deleted, err)
	}
	h.threads.fails = codex.RefusedError{Err: errors.New("no")}
	if err := h.round(); err != nil {
		t.Error(err)
	}
	if left, err := h.store.LeftoverThreads(t.Context(), 9); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestWeighing: what runs for long is weighed while it does, and nothing each minute.
func TestWeighing(t *testing.T) {
	h := newHouse(t, 1000)
	thread := h.converse(1)
	h.file(thread, "{}")
	began := time.Now()
	for minute, grown := range []int{0, 0, 0, 0, 0, 0, 2000, 2000} { // in the minute's beginning
		h.file(thread, strings.Repeat("x", grown))
		if err := h.makeRoom(t.Context(), began.Add(time.Duration(minute)*time.Minute)); err != nil {
			t.Fatal(err)
		}
		weighed := int(h.weighed.at.Sub(began).Minutes())
		if want := []int{0, 1, 1, 1, 1, 1, 6, 6}[minute]; weighed != want {
			t.Errorf("in minute %d: weighed last in %d, want %d", minute, weighed, want)
		}
	}
	if left, err := h.store.LeftoverThreads(t.Context(), 9); err != nil || !slices.Equal(left, []string{thread}) {
		t.Errorf("forgotten are %v, %v", left, err)
	}
}
