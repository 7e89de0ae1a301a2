package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A held writer is one that is busy until it is released; what is asked for
// meanwhile makes one group.
type held struct {
	t    *testing.T
	s    *Store
	once sync.Once
	free chan struct{}
	done chan error
}

func hold(t *testing.T, s *Store) *held {
	t.Helper()
	h := &held{t: t, s: s, free: make(chan struct{}), done: make(chan error, 1)}
	begun := make(chan struct{})
	go func() {
		h.done <- s.do(context.Background(), "hold the writer", reads, func(*conn) error {
			close(begun)
			<-h.free
			return nil
		})
	}()
	<-begun
	t.Cleanup(h.release)
	return h
}

func (h *held) release() {
	h.once.Do(func() {
		close(h.free)
		if err := <-h.done; err != nil {
			h.t.Error(err)
		}
	})
}

// waitFor returns when so many operations wait.
func (h *held) waitFor(n int) {
	h.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		h.s.queue.mu.Lock()
		waiting := len(h.s.queue.ops)
		h.s.queue.mu.Unlock()
		if waiting >= n {
			return
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("%d operations wait, want %d", waiting, n)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestGroupCommit(t *testing.T) {
	var commits atomic.Int32
	s := open(t, Config{Committed: func(int) { commits.Add(1) }})
	group := hold(t, s)
	const n = 100
	outcomes := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			m, h := message(i, fmt.Sprintf("task-%d", i))
			if i%10 == 3 { // has the key of another
				m.Key.Message = "message-7"
			}
			outcomes[i] = s.Accept(t.Context(), m, h)
		})
	}
	group.waitFor(n)
	group.release()
	wg.Wait()
	equal(t, commits.Load(), 1)
	refused := 0
	for i, err := range outcomes {
		_, missing := s.Task(t.Context(), fmt.Sprintf("task-%d", i))
		if (err == nil) != (missing == nil) {
			t.Errorf("task %d: %v, but %v", i, err, missing)
		}
		if err != nil {
			wantErr(t, err, ErrExists)
			refused++
		}
	}
	equal(t, refused, 10)
}

func TestNobodyHearsBeforeTheCommit(t *testing.T) {
	var heard, committed atomic.Int32
	s := open(t, Config{Committed: func(int) {
		committed.Add(1)
		if heard.Load() != 0 {
			t.Error("answered before the commit")
		}
	}})
	var wg sync.WaitGroup
	group := hold(t, s)
	for i := range 8 {
		wg.Go(func() {
			m, h := message(i, "task")
			err := s.Accept(t.Context(), m, h)
			heard.Add(1)
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.waitFor(8)
	group.release()
	wg.Wait()
	equal(t, committed.Load(), 1)
}

func TestContextEndsWaiting(t *testing.T) {
	s := open(t, Config{})
	group := hold(t, s)
	why := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	m, h := message(1, "task")
	outcome := make(chan error, 1)
	go func() { outcome <- s.Accept(ctx, m, h) }()
	group.waitFor(1)
	cancel(why)
	wantErr(t, <-outcome, why) // although the writer is held
	group.release()
	wantErr(t, second(s.Message(t.Context(), m.Key)), ErrUnknown)
	wantErr(t, s.Accept(ctx, m, h), why)
}

func TestBegunIsWaitedFor(t *testing.T) {
	s := open(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	err := s.do(ctx, "go on", relaxed, func(c *conn) error {
		cancel()
		_, _, err := c.newTask(&Head{ID: "task"}, 1)
		return err
	})
	must(t, err)
	must(t, second(s.Task(t.Context(), "task")))
}

func TestCloseFinishesWhatWaits(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	group := hold(t, s)
	m, h := message(1, "task")
	outcome := make(chan error, 1)
	go func() { outcome <- s.Accept(t.Context(), m, h) }()
	group.waitFor(1)
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	group.release()
	must(t, <-outcome)
	must(t, <-closed)
	s = open(t, Config{Dir: dir})
	must(t, second(s.Message(t.Context(), m.Key)))
}

func TestManyAtOnce(t *testing.T) {
	s := open(t, Config{})
	ctx := t.Context()
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			task := fmt.Sprintf("task-%d", i)
			m, h := message(i, task)
			check := func(err error) {
				if err != nil {
					t.Error(err)
				}
			}
			check(s.Accept(ctx, m, h))
			check(s.Begin(ctx, m.Job, 1, task, task, "", ""))
			for seq := range int64(30) {
				check(s.Write(ctx, Change{Task: task, Events: []Events{{First: seq + 1, Last: seq + 1, Epoch: 1, Body: m.Body}}}))
				got, err := s.Events(ctx, task, 0, 1<<20)
				check(err)
				if len(got) != int(seq)+1 {
					t.Errorf("%s has %d events, want %d", task, len(got), seq+1)
				}
			}
			h.Ended = true
			check(s.Write(ctx, Change{Head: &h, Ended: []string{m.Job}}))
			_, err := s.Tasks(ctx, Query{Limit: 10, History: -1, Artifacts: true})
			check(err)
		})
	}
	wg.Wait()
	open, err := s.Unfinished(ctx)
	must(t, err)
	equal(t, len(open), 0)
	must(t, s.Check(ctx))
}

func TestDurability(t *testing.T) {
	head, ended := Head{ID: "t"}, Head{ID: "t", Ended: true}
	for name, c := range map[string]struct {
		change Change
		want   durability
	}{
		"text":      {Change{Task: "t", Events: []Events{{First: 1, Last: 1}}}, relaxed},
		"state":     {Change{Head: &head}, relaxed},
		"turn-id":   {Change{Turn: &Turn{TurnID: "x"}}, relaxed},
		"asked-for": {Change{Task: "t", Durable: true}, durable},
		"end":       {Change{Head: &ended}, relaxed},
		"tool":      {Change{Turn: &Turn{Tool: true}}, durable},
		"question":  {Change{Task: "t", Ask: []Question{{}}}, durable},
		"delivery":  {Change{Task: "t", Outbox: []Delivery{{}}}, durable},
	} {
		if got := c.change.level(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestSync: what is durable is synced without being asked for, everything else
// when somebody asks, or within a second.
func TestSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Config{})
		wantSynced := func(what string, want bool) {
			t.Helper()
			synctest.Wait() // a sync that was begun has ended then
			s.syncer.mu.Lock()
			defer s.syncer.mu.Unlock()
			if commits, n := s.syncer.commits, s.syncer.synced; (n == commits) != want {
				t.Errorf("%s: %d of %d commits are on the disk", what, n, commits)
			}
		}
		do := func(level durability) {
			t.Helper()
			must(t, s.do(t.Context(), "change", level, func(c *conn) error { return c.script("CREATE TABLE IF NOT EXISTS x (y)") }))
		}
		do(relaxed)
		wantSynced("relaxed", false)
		time.Sleep(soon)
		wantSynced("a second later", true)
		do(relaxed)
		wantSynced("relaxed again", false)
		must(t, s.Sync(t.Context()))
		wantSynced("asked for", true)
		do(durable)
		wantSynced("durable", true)
	})
}

func TestSyncFails(t *testing.T) {
	s := open(t, Config{})
	s.syncer.path = filepath.Join(t.TempDir(), "gone")
	must(t, s.do(t.Context(), "change", relaxed, func(c *conn) error { return c.script("CREATE TABLE x (y)") }))
	err := s.Sync(t.Context())
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

func TestSlowReadsDoNotHoldChangesUp(t *testing.T) {
	s := open(t, Config{})
	group := hold(t, s)
	var before, reading atomic.Int32
	var wg sync.WaitGroup
	const n = 10
	for range n {
		wg.Go(func() {
			err := s.do(t.Context(), "read slowly", reads, func(*conn) error {
				time.Sleep(2 * readTime)
				reading.Add(1)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.waitFor(n)
	wg.Go(func() {
		err := s.do(t.Context(), "change", relaxed, func(*conn) error {
			before.Store(reading.Load())
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	group.waitFor(n + 1)
	group.release()
	wg.Wait()
	equal(t, before.Load(), 1)
	equal(t, reading.Load(), n)
}

// TestReadsThatAreGivenBack: they are answered by the writer, also when nothing
// else comes in; and somebody's only read is never given back.
func TestReadsThatAreGivenBack(t *testing.T) {
	s := open(t, Config{})
	slowly := func(*conn) error {
		time.Sleep(2 * readTime)
		return nil
	}
	var ops []*operation
	for range 3 {
		ops = append(ops, &operation{run: slowly, done: make(chan error, 1)})
	}
	time.Sleep(2 * quietMost) // the writer then has nothing to do for long
	s.turn.Lock()
	s.serve(ops)
	s.turn.Unlock()
	for i, op := range ops {
		select {
		case err := <-op.done:
			must(t, err)
		case <-time.After(time.Minute):
			t.Fatalf("read %d is never answered", i)
		}
	}
}

// TestInBubble runs a store on the clock of a bubble, as those that use it may.
func TestInBubble(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(t.Context(), Config{Dir: dir})
		must(t, err)
		accept(t, s, 1, "task")
		time.Sleep(time.Hour)
		must(t, second(s.Task(t.Context(), "task")))
		must(t, s.Close())
	})
}
