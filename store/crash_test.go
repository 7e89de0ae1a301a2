package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// childAccepts accepts messages from several callers, runs some of them, and
// says what it was promised, until it is killed.
func childAccepts() {
	s := childOpen()
	ctx := context.Background()
	var wg sync.WaitGroup
	for caller := range 4 {
		wg.Go(func() {
			for i := range 100_000 {
				n := caller*100_000 + i
				task := fmt.Sprintf("task-%d", n)
				m, h := message(n, task)
				promise := func(what string, err error) {
					if err == nil {
						fmt.Printf("%s %d\n", what, n)
					} else {
						fmt.Println("error", err)
					}
				}
				promise("accepted", s.Accept(ctx, m, h))
				promise("begun", s.Begin(ctx, m.Job, 1, "conversation", "thread", "", ""))
				h.Ended = true
				promise("ended", s.Write(ctx, Change{Head: &h, Ended: []string{m.Job}, Epoch: 1,
					Events: []Events{{First: 1, Last: 3, Epoch: 1, Body: m.Body}}}))
			}
		})
	}
	wg.Wait()
}

// settled checks that a store has everything that was promised, and nothing half.
func settled(t *testing.T, dir string, promises []string) {
	t.Helper()
	s := open(t, Config{Dir: dir})
	defer closeStore(t, s)
	ctx := t.Context()
	must(t, s.Check(ctx))
	for _, line := range promises {
		what, number, _ := strings.Cut(line, " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("the child said %q", line)
		}
		key, _ := message(n, "")
		m, err := s.Message(ctx, key.Key)
		must(t, err)
		if what == "begun" && m.Attempt != 1 || what == "ended" && !m.Ended {
			t.Errorf("%s, but the message is %+v", line, m)
		}
	}
	page, err := s.Tasks(ctx, Query{Limit: 1 << 20, History: -1})
	must(t, err)
	for _, task := range page.Tasks {
		events, err := s.Events(ctx, task.ID, 0, 1<<20)
		must(t, err)
		// What one commit wrote is there together or not at all.
		if len(task.History) != 1 || task.Ended != (len(events) == 1) || task.Ended != (task.LastSeq == 3) {
			t.Errorf("%s has %d messages and %d events: %+v", task.ID, len(task.History), len(events), task)
		}
	}
}

func TestKilledAtAnyTime(t *testing.T) {
	longtest.Mark(t)
	dir := t.TempDir()
	for _, lines := range []int{1, 10, 200, 1000} {
		c := startChild(t, "accepts", dir)
		var said []string
		for range lines {
			said = append(said, c.line())
		}
		said = append(said, c.kill()...)
		if n := len(said) - 1; n >= 0 && said[n] == "" {
			t.Fatal("the child died by itself")
		}
		settled(t, dir, whole(said))
		dir = t.TempDir() // the child uses the same numbers again
	}
}

func TestKilledAtEachCommit(t *testing.T) {
	longtest.Mark(t)
	for n := 1; n <= 12; n++ {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := startChild(t, "accepts", dir, killEnv+"="+strconv.Itoa(n))
			var said []string
			for line := c.line(); line != ""; line = c.line() {
				said = append(said, line)
			}
			settled(t, dir, said)
		})
	}
}

// whole drops a last line that the kill cut.
func whole(lines []string) []string {
	if n := len(lines) - 1; n >= 0 && strings.Count(lines[n], " ") == 0 {
		return lines[:n]
	}
	return lines
}

func TestLockIsTheProcess(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, "holds", dir)
	equal(t, c.line(), "open")
	_, err := Open(t.Context(), Config{Dir: dir})
	locked := lockedBy(t, err)
	if locked.PID != c.cmd.Process.Pid || locked.Host == "" || locked.Since.IsZero() {
		t.Errorf("refused with %+v, the holder is %d", locked, c.cmd.Process.Pid)
	}
	if !strings.Contains(err.Error(), fmt.Sprintf("process %d on ", c.cmd.Process.Pid)) || !strings.Contains(err.Error(), dir) {
		t.Errorf("refused with %q", err)
	}
	c.kill()
	open(t, Config{Dir: dir})
}
