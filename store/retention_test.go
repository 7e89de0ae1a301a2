package store

import (
	"bytes"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// A clock is set by the test.
type clock struct{ now atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.now.Store(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) Now() time.Time          { return time.Unix(0, c.now.Load()) }
func (c *clock) advance(d time.Duration) { c.now.Add(int64(d)) }

// run accepts the i-th message as a task of its own, and ends it.
func run(t *testing.T, s *Store, i int) string {
	t.Helper()
	task := fmt.Sprintf("task-%d", i)
	m, head := accept(t, s, i, task)
	must(t, s.Begin(t.Context(), m.Job, 1, task, "thread-of-"+task, "", ""))
	must(t, s.SetPush(t.Context(), task, Push{ID: "p"}))
	head.Ended = true
	must(t, s.Write(t.Context(), Change{
		Head: &head, Ended: []string{m.Job}, Artifacts: [][]byte{[]byte("artifact")}, Epoch: 1,
		Events: []Events{{First: 1, Last: 9, Epoch: 1, Body: []byte("events")}}, Ask: []Question{{ID: "q"}},
		Outbox: []Delivery{{Kind: "push", Target: "t"}},
	}))
	return task
}

// sent has all that waits arrive.
func sent(t *testing.T, s *Store) {
	t.Helper()
	waiting, err := s.Deliveries(t.Context(), "push", 0, 1000)
	must(t, err)
	for _, d := range waiting {
		must(t, s.FinishDelivery(t.Context(), d.ID))
	}
}

// rows returns how many rows each table has.
func rows(t *testing.T, s *Store, tables ...string) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	for _, table := range tables {
		n, err := view(t.Context(), s, "count", func(c *conn) (int64, error) { return c.number("SELECT count(*) FROM " + table) })
		must(t, err)
		counts[table] = n
	}
	return counts
}

func TestForgetByAge(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	old := run(t, s, 1)
	live, _ := accept(t, s, 2, "live")
	clock.advance(29 * 24 * time.Hour)
	young := run(t, s, 3)
	must(t, s.Sweep(t.Context()))
	must(t, second(s.Task(t.Context(), old)))
	clock.advance(24*time.Hour + 1)
	must(t, s.Sweep(t.Context()))

	wantErr(t, second(s.Task(t.Context(), old)), ErrUnknown)
	must(t, second(s.Task(t.Context(), young)))
	for id, want := range map[string]bool{old: false, young: true} {
		if known, err := s.Has(t.Context(), id); err != nil || known != want {
			t.Errorf("%s is known: %v, %v", id, known, err)
		}
	}
	must(t, second(s.Message(t.Context(), live.Key)))
	accept(t, s, 1, old) // its key is free again, and its id

	tables := []string{"tasks", "messages", "history", "artifacts", "events", "turns", "questions", "push_configs", "outbox", "forgotten", "conversations"}
	equal(t, rows(t, s, tables...), map[string]int64{
		"tasks": 3, "messages": 3, "history": 3, "artifacts": 1, "events": 0, "turns": 1,
		"questions": 1, "push_configs": 1, "outbox": 1, "forgotten": 0, "conversations": 2,
	})
}

func TestForgetByCount(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now, Retention: Retention{Tasks: 30}})
	for i := range 100 {
		run(t, s, i)
		clock.advance(time.Second)
	}
	sent(t, s)
	clock.advance(time.Hour)
	must(t, s.Sweep(t.Context()))
	equal(t, rows(t, s, "tasks", "events"), map[string]int64{"tasks": 30, "events": 30})
	wantErr(t, second(s.Task(t.Context(), "task-69")), ErrUnknown)
	must(t, second(s.Task(t.Context(), "task-70")))
}

func TestForgetBySize(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now, Retention: Retention{Bytes: 3 << 20}})
	for i := range 10 {
		task := run(t, s, i)
		must(t, s.Write(t.Context(), Change{Task: task, Artifacts: [][]byte{bytes.Repeat([]byte("x"), 1<<20)}}))
		clock.advance(time.Second)
	}
	must(t, s.Sweep(t.Context()))
	equal(t, rows(t, s, "tasks"), map[string]int64{"tasks": 10}) // all of them have just ended
	sent(t, s)
	clock.advance(2 * time.Hour)
	must(t, s.Sweep(t.Context()))
	equal(t, rows(t, s, "tasks", "artifacts"), map[string]int64{"tasks": 2, "artifacts": 2})
	must(t, second(s.Task(t.Context(), "task-9")))
}

// TestRetentionAsItIs without settings.
func TestRetentionAsItIs(t *testing.T) {
	equal(t, Retention{}.orDefault(), Retention{Tasks: 10_000, Rows: 100_000, Age: 30 * 24 * time.Hour, Events: 24 * time.Hour, Bytes: 1 << 30})
}

func TestEventsGoFirst(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	task := run(t, s, 1)
	accept(t, s, 2, "live")
	must(t, s.Write(t.Context(), Change{Task: "live", Events: []Events{{First: 1, Last: 1, Body: []byte("x")}}}))
	clock.advance(24*time.Hour + 1)
	must(t, s.Sweep(t.Context()))
	events, err := s.Events(t.Context(), task, 0, 10)
	must(t, err)
	equal(t, len(events), 0)
	kept, err := s.Task(t.Context(), task)
	must(t, err)
	equal(t, []int{int(kept.LastSeq), len(kept.Artifacts), len(kept.History)}, []int{9, 1, 1})
	equal(t, rows(t, s, "events"), map[string]int64{"events": 1})
}

// TestSweepsInShortSteps has a task with more rows and bytes than a step takes.
func TestSweepsInShortSteps(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	m, head := accept(t, s, 1, "task")
	var small []Events
	for i := range int64(1000) {
		small = append(small, Events{First: i + 1, Last: i + 1, Body: []byte("x")})
	}
	var large []Events
	for i := range int64(50) {
		large = append(large, Events{First: 2000 + i, Last: 2000 + i, Body: make([]byte, 64<<10)})
	}
	must(t, s.Write(t.Context(), Change{Task: "task", Events: small}))
	must(t, s.Write(t.Context(), Change{Task: "task", Events: large}))
	head.Ended = true
	must(t, s.Write(t.Context(), Change{Head: &head, Ended: []string{m.Job}}))
	clock.advance(31 * 24 * time.Hour)

	for steps := 0; ; steps++ {
		var more bool
		var before, now int64
		must(t, s.do(t.Context(), "sweep", relaxed, func(c *conn) (err error) { // the store takes steps of its own between
			before, err = c.number("SELECT count(*) FROM events")
			must(t, err)
			more, err = c.sweep(s.retention, clock.Now(), clock.Now())
			must(t, err)
			now, err = c.number("SELECT count(*) FROM events")
			return err
		}))
		if before-now > stepRows || now < 50 && before-now > stepBytes/(64<<10)+1 {
			t.Fatalf("a step took %d rows", before-now)
		}
		if !more {
			break
		}
		closeAndCheckEachStep(t, s, steps)
	}
	equal(t, rows(t, s, "events", "tasks", "forgotten"), map[string]int64{"events": 0, "tasks": 0, "forgotten": 0})
}

// closeAndCheckEachStep makes sure that a task that is going is gone for readers.
func closeAndCheckEachStep(t *testing.T, s *Store, step int) {
	t.Helper()
	if step > 0 {
		wantErr(t, second(s.Task(t.Context(), "task")), ErrUnknown)
		wantErr(t, second(s.Events(t.Context(), "task", 0, 1)), ErrUnknown)
	}
}

func TestSpaceIsGivenBack(t *testing.T) {
	dir := t.TempDir()
	clock := newClock()
	s := open(t, Config{Dir: dir, Now: clock.Now})
	for i := range 20 {
		task := run(t, s, i)
		must(t, s.Write(t.Context(), Change{Task: task, Artifacts: [][]byte{make([]byte, 1<<20)}}))
	}
	closeStore(t, s)
	before := size(t, s.Path())
	s = open(t, Config{Dir: dir, Now: clock.Now})
	clock.advance(31 * 24 * time.Hour)
	must(t, s.Sweep(t.Context()))
	must(t, s.Check(t.Context()))
	closeStore(t, s)
	if after := size(t, s.Path()); before < 20<<20 || after > 5<<20 {
		t.Errorf("the database had %d bytes and has %d", before, after)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}

// TestSweepsByItself waits for the writer's own sweep.
func TestSweepsByItself(t *testing.T) {
	dir := t.TempDir()
	clock := newClock()
	s := open(t, Config{Dir: dir, Now: clock.Now})
	for i := range 50 {
		run(t, s, i)
	}
	closeStore(t, s)
	clock.advance(31 * 24 * time.Hour)
	s = open(t, Config{Dir: dir, Now: clock.Now})
	for deadline := time.Now().Add(time.Minute); rows(t, s, "history")["history"] > 0; {
		if time.Now().After(deadline) {
			t.Fatal("nothing was forgotten")
		}
		time.Sleep(10 * time.Millisecond)
	}
}
