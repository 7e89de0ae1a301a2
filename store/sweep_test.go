package store

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// TestManyTasksAStep goes through small tasks without a step for each of their tables.
func TestManyTasksAStep(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	const tasks = 400
	for i := range tasks {
		run(t, s, i)
	}
	clock.advance(31 * 24 * time.Hour)
	steps := 0
	for more := true; more; steps++ {
		must(t, s.do(t.Context(), "sweep", relaxed, func(c *conn) (err error) {
			more, err = c.sweepPortion(s.retention, clock.Now(), clock.Now(), &portion{rows: stepRows, bytes: stepBytes, time: time.Hour})
			return err
		}))
	}
	equal(t, rows(t, s, "tasks", "events", "forgotten"), map[string]int64{"tasks": 0, "events": 0, "forgotten": 0})
	if steps > tasks/4 {
		t.Errorf("%d steps for %d tasks", steps, tasks)
	}
}

// TestSlowStepsGetOn has no time for any step: each takes some rows all the same.
func TestSlowStepsGetOn(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	for i := range 3 {
		run(t, s, i)
	}
	must(t, s.do(t.Context(), "forget all", relaxed, func(c *conn) error {
		for n := range int64(3) {
			must(t, c.forget(n+1))
		}
		for steps, more := 0, true; more; steps++ {
			var err error
			if more, err = c.clearForgotten(&portion{rows: stepRows, bytes: stepBytes}); err != nil || steps > 100 {
				t.Fatalf("after %d steps: %v", steps, err)
			}
		}
		return nil
	}))
	equal(t, rows(t, s, "history", "forgotten"), map[string]int64{"history": 0, "forgotten": 0})
}

// TestRetentionUnderLoad has a writer that never finds its queue empty.
func TestRetentionUnderLoad(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now})
	for i := range 50 {
		run(t, s, i)
	}
	clock.advance(31 * 24 * time.Hour)
	s.turn.Lock()
	s.upkeep.sweep = time.Now()
	s.turn.Unlock()
	var left atomic.Int64
	left.Store(-1)
	done := make(chan struct{})
	ops := 0
	var next func() *operation
	next = func() *operation {
		return &operation{level: relaxed, done: make(chan error, 1), run: func(c *conn) error {
			n, err := c.number("SELECT (SELECT count(*) FROM tasks) + (SELECT count(*) FROM forgotten)")
			left.Store(n)
			if ops++; n == 0 || ops > 1_000_000 || err != nil {
				close(done)
				return err
			}
			s.queue.put(next())
			return nil
		}}
	}
	s.queue.put(next())
	<-done
	if n := left.Load(); n > 0 {
		t.Errorf("%d of the tasks are still there after %d commits", n, ops)
	}
}

// TestOneSweepBesideAnother in the same transaction takes no more than is too much.
func TestOneSweepBesideAnother(t *testing.T) {
	clock := newClock()
	s := open(t, Config{Now: clock.Now, Retention: Retention{Tasks: 30}})
	for i := range 35 {
		run(t, s, i)
		clock.advance(time.Second)
	}
	sent(t, s)
	clock.advance(time.Hour)
	must(t, s.catalog(t.Context(), "look"))
	sweep := func(c *conn) error { return second(c.sweep(s.retention, clock.Now(), clock.Now())) }
	must(t, together(t.Context(), s, sweep, sweep, sweep))
	must(t, s.Sweep(t.Context()))
	equal(t, rows(t, s, "tasks"), map[string]int64{"tasks": 30})
}

// BenchmarkRetentionUnderLoad ends 600 tasks a second beside 3,000 that are too many, and
// measures how long the commits of a task wait, and how many are left over. Its hour is a second.
func BenchmarkRetentionUnderLoad(b *testing.B) {
	const rate, seconds = 600, 5
	dir := finished(b, 4000)
	for name, retention := range map[string]Retention{"with": {Tasks: 1000}, "without": {Tasks: 1 << 30}} {
		b.Run(name, func(b *testing.B) {
			began := time.Now()
			s, err := Open(b.Context(), Config{Dir: dir, Retention: retention, Now: func() time.Time { return began.Add(3600 * time.Since(began)) }})
			must(b, err)
			defer s.Close()
			var took []time.Duration
			tick := time.NewTicker(time.Second / rate)
			defer tick.Stop()
			for i := range rate * seconds {
				<-tick.C
				if i%rate == 0 { // it would be once a minute
					s.turn.Lock()
					s.upkeep.sweep = time.Now()
					s.turn.Unlock()
				}
				m, h := messageNumber(10_000 + i)
				m.Job, m.Key.Caller = fmt.Sprint(name, i), name
				h.ID = name + h.ID
				m.TaskID = h.ID
				for _, commit := range []func() error{
					func() error { return s.Accept(b.Context(), m, h) },
					func() error { return s.Begin(b.Context(), m.Job, 1, "conversation", "thread", "", "") },
					func() error {
						h.Ended = true
						return s.Write(b.Context(), Change{Head: &h, Ended: []string{m.Job}, Artifacts: [][]byte{make([]byte, 2000)},
							Events: []Events{{First: 1, Last: 50, Epoch: 1, Body: make([]byte, 4000)}}})
					},
				} {
					start := time.Now()
					must(b, commit())
					took = append(took, time.Since(start))
				}
			}
			b.ReportMetric(0, "ns/op")
			report(b, took)
			left, err := view(b.Context(), s, "count", func(c *conn) (int64, error) { return c.number("SELECT count(*) FROM tasks") })
			must(b, err)
			b.ReportMetric(float64(left), "tasks-left")
		})
	}
}
