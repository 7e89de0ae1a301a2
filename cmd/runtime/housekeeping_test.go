package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// someThreads are an executor's: err keeps it from letting go of one.
type someThreads struct {
	err     error
	deleted []string
}

func (s *someThreads) Forget(context.Context, string) error { return s.err }

func (s *someThreads) Delete(_ context.Context, thread string) error {
	s.deleted = append(s.deleted, thread)
	return errors.New("codex ends") // the file goes all the same
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
		"without-files":  {[]string{"a 0 110", "b 2 0"}, nil},
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
		if got := surplus(all, sizes, 100, now); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v go, want %v", name, got, c.want)
		}
	}
}
