package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

func openStore(t *testing.T, dir string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStateCheck(t *testing.T) {
	dir := t.TempDir()
	look := func(status preflight.Status, want string) {
		t.Helper()
		if r := stateCheck(dir).Do(t.Context()); r.Status != status || !strings.Contains(r.Detail, want) {
			t.Errorf("%s %q, want %s %q", r.Status, r.Detail, status, want)
		}
	}
	look(preflight.OK, "nothing in it yet")
	s := openStore(t, dir)
	look(preflight.OK, "in use by process")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	look(preflight.OK, "KiB")
	if err := os.WriteFile(filepath.Join(dir, "state.db"), []byte("no database at all, but long enough to be one"), 0o600); err != nil {
		t.Fatal(err)
	}
	look(preflight.Fail, "damaged")
}

type idleThreads struct{}

func (idleThreads) Forget(context.Context, string) error { return nil }

type busyThreads struct{}

func (busyThreads) Forget(context.Context, string) error { return executor.ErrBusy }

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
	tidied := func() bool {
		t.Helper()
		if err := tidyOnce(ctx, s, idleThreads{}, codexHome{dir: home}, time.Now().Add(time.Hour)); err != nil {
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
	if err := tidyOnce(ctx, s, busyThreads{}, codexHome{dir: home}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err != nil {
		t.Error("the thread of a conversation that the executor uses was deleted")
	}
	if !tidied() {
		t.Error("the thread of a forgotten conversation is still there")
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	if threads, err := s.Threads(ctx); err != nil || len(threads) != 0 {
		t.Errorf("%v, %v", threads, err)
	}
}

func TestStateMetrics(t *testing.T) {
	s := openStore(t, t.TempDir())
	defer s.Close()
	if n := testutil.CollectAndCount(newStateMetrics(s)); n != 6 {
		t.Errorf("%d metrics", n)
	}
}
