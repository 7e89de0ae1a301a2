package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestFileShrinksAfterRetention has many small tasks, as turns leave them, beside some that
// stay, in a store that goes on: the file gets small without a restart.
func TestFileShrinksAfterRetention(t *testing.T) {
	longtest.Mark(t)
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	const tasks = 2000
	for i := range tasks {
		clock.advance(time.Second)
		id := fmt.Sprintf("%08x-1111-2222-3333-444455556666", uint32(i)*2654435761)
		m, h := message(i, id)
		m.Key.Message, h.Body = id, bytes.Repeat([]byte("h"), 400)
		must(t, s.Accept(t.Context(), m, h))
		h.Ended = true
		must(t, s.Write(t.Context(), Change{
			Head: &h, Ended: []string{m.Job}, Artifacts: [][]byte{bytes.Repeat([]byte("a"), 1500)},
			Events: []Events{{First: 1, Last: 20, Epoch: 1, Body: bytes.Repeat([]byte("e"), 3000)}},
		}))
		if i == tasks-30 {
			clock.advance(29 * 24 * time.Hour)
		}
	}
	grown := size(t, s.Path())
	clock.advance(2 * 24 * time.Hour)
	must(t, s.catalog(t.Context(), "look"))
	s.turn.Lock()
	for s.forgetSome(time.Now()); s.upkeep.swept; { // as the writer does, without its pauses
		s.forgetSome(time.Now())
	}
	s.turn.Unlock()
	if now := size(t, s.Path()); now > grown/4 {
		t.Errorf("the file had %d bytes and has %d", grown, now)
	}
	t.Logf("%d bytes, then %d", grown, size(t, s.Path()))
	equal(t, rows(t, s, "tasks"), map[string]int64{"tasks": 29})
	must(t, s.Check(t.Context()))
}

// emptied returns a store of which nothing is kept and nothing was given back yet.
func emptied(t *testing.T, clock *clock) *Store {
	t.Helper()
	s := open(t, Config{Now: clock.Now})
	for i := range 12 {
		task := run(t, s, i)
		must(t, s.Write(t.Context(), Change{Task: task, Artifacts: [][]byte{make([]byte, 1<<20)}}))
	}
	clock.advance(31 * 24 * time.Hour)
	must(t, s.do(t.Context(), "forget all", relaxed, func(c *conn) error {
		for n := range 12 {
			must(t, c.forget(int64(n+1)))
		}
		for more := true; more; {
			var err error
			if more, err = c.clearForgotten(newPortion()); err != nil {
				return err
			}
		}
		return nil
	}))
	return s
}

// TestKilledWhileTheFileShrinks leaves a sound file between any two steps, and the next
// process goes on.
func TestKilledWhileTheFileShrinks(t *testing.T) {
	clock := newClock()
	s := emptied(t, clock)
	for _, steps := range []int{1, 10, 30} {
		left := t.TempDir()
		must(t, s.do(t.Context(), "look", reads, func(*conn) error { // outside a transaction
			for range steps {
				if _, err := s.sweepOnce(); err != nil {
					return err
				}
			}
			for _, name := range []string{"state.db", "state.db-wal"} { // what a killed process leaves
				body, err := os.ReadFile(filepath.Join(s.dir, name))
				if err != nil {
					return err
				}
				must(t, os.WriteFile(filepath.Join(left, name), body, 0o600))
			}
			return nil
		}))
		next := open(t, Config{Dir: left, Now: clock.Now})
		must(t, next.Check(t.Context()))
		must(t, next.Sweep(t.Context()))
		must(t, next.Check(t.Context()))
		closeStore(t, next)
		if n := size(t, next.Path()); n > 3<<20 {
			t.Errorf("killed after %d steps: the file has %d bytes in the end", steps, n)
		}
	}
}

// TestFileThatCannotShrink was written anew by another program. Retention comes to its end.
func TestFileThatCannotShrink(t *testing.T) {
	clock := newClock()
	s := emptied(t, clock)
	must(t, s.do(t.Context(), "look", reads, func(c *conn) error {
		free, err := c.number("PRAGMA freelist_count")
		if err != nil || free < vacuumLeast {
			t.Errorf("%d free pages, %v", free, err)
		}
		return err
	}))
	closeStore(t, s)
	c, err := dial(s.Path(), false)
	must(t, err)
	must(t, c.script("PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = NONE; VACUUM; PRAGMA journal_mode = WAL"))
	must(t, c.close())
	s = open(t, Config{Dir: s.dir, Now: clock.Now})
	for i := range 5 {
		run(t, s, 100+i)
		must(t, s.Write(t.Context(), Change{Task: fmt.Sprintf("task-%d", 100+i), Artifacts: [][]byte{make([]byte, 1<<20)}}))
	}
	clock.advance(31 * 24 * time.Hour)
	must(t, s.Sweep(t.Context()))
	free, err := view(t.Context(), s, "look", func(c *conn) (int64, error) { return c.number("PRAGMA freelist_count") })
	must(t, err)
	if free < vacuumLeast {
		t.Errorf("%d free pages: it could shrink, and this test shows nothing", free)
	}
}
