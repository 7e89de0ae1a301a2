package main

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
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// someThreads are an executor's: err keeps it from letting go of one, and fails from deleting one.
type someThreads struct {
	err     error
	fails   error
	deleted []string
}

func (s *someThreads) Forget(context.Context, string) error { return s.err }

func (s *someThreads) Delete(_ context.Context, thread string) error {
	if s.fails == nil {
		s.deleted = append(s.deleted, thread)
	}
	return s.fails
}

func TestTidy(t *testing.T) {
	ctx, home := t.Context(), t.TempDir()
	s := openStore(t, t.TempDir())
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
	h := &housekeeper{store: s, threads: threads, home: codexHome{dir: home}, log: slog.New(slog.DiscardHandler)}
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
	for _, threads.fails = range []error{executor.ErrNoCodex, errors.New("codex ends")} {
		if !tidied() {
			t.Errorf("%v: the file of the thread is still there", threads.fails)
		}
		if left, err := s.Leftovers(ctx, 1); err != nil || !slices.Equal(left, []string{old}) {
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
	if threads, err := s.Threads(ctx); err != nil || len(threads) != 0 {
		t.Errorf("%v, %v", threads, err)
	}
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
		h := &housekeeper{most: func() int64 { return 100 }, isPeers: isPeers}
		if got := h.surplus(all, sizes, now); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v go, want %v", name, got, c.want)
		}
	}
}

// TestMuchSurplus goes in one round, however much it is, and what cannot be forgotten is in nobody's
// way.
func TestMuchSurplus(t *testing.T) {
	const many = 250
	ctx, home := t.Context(), t.TempDir()
	s := openStore(t, t.TempDir())
	defer s.Close()
	day := filepath.Join(home, "sessions", "2026", "01", "02")
	if err := os.MkdirAll(day, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range many {
		id, thread := fmt.Sprint("c", i), fmt.Sprintf("01a1fdb0-fdfb-7181-b145-%012d", i)
		m := store.Message{Key: store.Key{Message: id}, TaskID: id, Job: id, Conversation: "peer:" + id, Body: []byte("{}")}
		for _, err := range []error{
			s.Accept(ctx, m, store.Head{ID: id, Context: id, Conversation: m.Conversation, State: "working"}),
			s.Begin(ctx, id, 1, m.Conversation, thread, "", ""),
			s.Write(ctx, store.Change{Head: &store.Head{ID: id, State: "completed", Ended: true}, Ended: []string{id}}),
			os.WriteFile(filepath.Join(day, "rollout-x-"+thread+".jsonl"), make([]byte, 10), 0o600),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	threads := &someThreads{err: errors.New("not now")}
	h := &housekeeper{store: s, threads: threads, home: codexHome{dir: home}, most: func() int64 { return 40 }, isPeers: isPeers, log: slog.New(slog.DiscardHandler)}
	round := func() error { return errors.Join(h.makeRoom(ctx, time.Now()), h.sweep(ctx)) }
	if err := round(); !errors.Is(err, threads.err) {
		t.Errorf("%v", err)
	}
	threads.err = nil
	if err := round(); err != nil { // though nothing was used since
		t.Error(err)
	}
	left, err := os.ReadDir(day)
	if err != nil || len(left) != 1 || len(threads.deleted) != many-1 {
		t.Errorf("%d files are left, codex has deleted %d, %v", len(left), len(threads.deleted), err)
	}
}
