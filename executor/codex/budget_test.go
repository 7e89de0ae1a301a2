package codex_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// offer submits a job of a size.
func offer(e *rig, id, in string, size int, change ...func(*executor.Job)) (*witness, error) {
	w := &witness{ended: make(chan agent.Ended, 1)}
	job := executor.Job{ID: id, Context: in, Input: []agent.Input{agent.Text("!hang")}, Size: size}
	for _, f := range change {
		f(&job)
	}
	_, err := e.Submit(job, w.observe)
	return w, err
}

// sizes submits a job for each size, in a context of its own, and fails the test if one is refused.
func sizes(t *testing.T, e *rig, name string, all ...int) (out []*witness) {
	t.Helper()
	for i, size := range all {
		id := fmt.Sprintf("%s%d", name, i)
		w, err := offer(e, id, id, size)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, w)
	}
	return out
}

func wantRefused(t *testing.T, what string, err error, word string) {
	t.Helper()
	if !errors.Is(err, executor.ErrQueueFull) || !strings.Contains(err.Error(), word) {
		t.Errorf("%s: %v, want it refused with %q", what, err, word)
	}
}

// TestBytesAreBounded over all contexts, and so that none of them takes what is there for all.
func TestBytesAreBounded(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", func(c *config) { c.MaxTurns, c.MaxBytes = 1, 1000 })
	sizes(t, e, "first", 100)
	if _, err := offer(e, "a1", "a", 240); err != nil {
		t.Fatal(err)
	}
	_, err := offer(e, "a2", "a", 20)
	wantRefused(t, "beyond the share of a context", err, "in this context")
	wantRefused(t, "the same, asked beforehand", e.Refuses(executor.Job{ID: "a2", Context: "a", Size: 20}), "in this context")
	if _, err := offer(e, "a2", "a", 10); err != nil {
		t.Errorf("within its share: %v", err)
	}
	if _, err := offer(e, "b1", "b", 600); err != nil { // larger than a share, but the first there
		t.Errorf("the first of another context: %v", err)
	}
	_, err = offer(e, "c1", "c", 51)
	wantRefused(t, "beyond all that there is", err, "over all contexts")
	if _, err := offer(e, "c1", "c", 50); err != nil {
		t.Errorf("the last that fits: %v", err)
	}
	if got := e.Health().Bytes; got != 1000 {
		t.Errorf("%d bytes are counted", got)
	}
}

// TestOtherAgentsLeaveRoom: of what may wait the user has a quarter for himself, in number and
// in bytes, and of the turns that may run one.
func TestOtherAgentsLeaveRoom(t *testing.T) {
	t.Parallel()
	peers := func(j *executor.Job) { j.Peer = true }
	t.Run("number", func(t *testing.T) {
		t.Parallel()
		e := onFake(t, "", func(c *config) { c.MaxTurns, c.MaxWaiting = 2, 8 })
		var all []*witness
		for i := range 6 {
			w, err := offer(e, fmt.Sprint("p", i), fmt.Sprint("p", i), 0, peers)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, w)
		}
		_, err := offer(e, "p6", "p6", 0, peers)
		wantRefused(t, "one more", err, "of other agents")
		user := submit(t, e, "u", "u", "hello")
		wantEnd(t, user.wait(t), agent.Completed, "")
		if slots := e.Health().Slots; slots.Working != 1 {
			t.Errorf("beside the user's turn: %+v", slots)
		}
		if err := e.Cancel(t.Context(), "p5"); err != nil {
			t.Fatal(err)
		}
		wantEnd(t, all[5].wait(t), agent.Canceled, "")
		if _, err := offer(e, "p6", "p6", 0, peers); err != nil {
			t.Errorf("when one has ended: %v", err)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		t.Parallel()
		e := onFake(t, "", func(c *config) { c.MaxTurns, c.MaxBytes = 1, 1000 })
		for i, size := range []int{250, 250, 250} {
			if _, err := offer(e, fmt.Sprint("p", i), fmt.Sprint("p", i), size, peers); err != nil {
				t.Fatal(err)
			}
		}
		_, err := offer(e, "p3", "p3", 1, peers)
		wantRefused(t, "one more", err, "of other agents")
		sizes(t, e, "user", 250)
	})
}

// TestBytesAreGivenBack with the end of a job, however it ends: who hears of it has room.
func TestBytesAreGivenBack(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", func(c *config) { c.MaxTurns, c.MaxBytes = 1, 1000 })
	if _, err := offer(e, "huge", "huge", 5000); err != nil {
		t.Fatalf("larger than the bound, with nothing else there: %v", err)
	}
	_, err := offer(e, "next", "next", 1)
	wantRefused(t, "beside it", err, "RUNTIME_MAX_QUEUE_MIB")
	next := make(chan error, 1)
	w, err := offer(e, "old", "huge", 5000, func(j *executor.Job) { j.Accepted = true })
	if err != nil {
		t.Fatalf("what an earlier process has accepted: %v", err)
	}
	if got := e.Health().Bytes; got != 10_000 {
		t.Errorf("%d bytes are counted of two jobs of 5000", got)
	}
	for _, id := range []string{"old", "huge"} { // in the queue, and in its turn
		if err := e.Cancel(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	wantEnd(t, w.wait(t), agent.Canceled, "")
	if got := e.Health().Bytes; got != 0 {
		t.Errorf("%d bytes are counted of no job", got)
	}
	ending := func(event agent.Event) {
		if _, ok := event.(agent.Ended); ok {
			_, err := offer(e, "after", "after", 900)
			next <- err
		}
	}
	if _, err := e.Submit(executor.Job{ID: "done", Context: "done", Input: []agent.Input{agent.Text("hello")}, Size: 900}, ending); err != nil {
		t.Fatal(err)
	}
	if err := <-next; err != nil {
		t.Errorf("at the end of the one before: %v", err)
	}
}

// TestBytesOfAFailedStart are given back, too.
func TestBytesOfAFailedStart(t *testing.T) {
	t.Parallel()
	e := running(t, config{driverConfig: nowhere("/no/such/codex"), schedulerConfig: schedulerConfig{MaxBytes: 10}})
	w := sizes(t, e, "j", 10)[0]
	wantEnd(t, w.wait(t), agent.Failed, agent.FailUnreachable)
	if got := e.Health().Bytes; got != 0 {
		t.Errorf("%d bytes are counted of no job", got)
	}
}

// TestBytesOfSteeredMessages count until the end of the turn that they went into.
func TestBytesOfSteeredMessages(t *testing.T) {
	t.Parallel()
	e := onFake(t, "", func(c *config) { c.MaxBytes = 400 })
	w, err := offer(e, "j1", "one", 10)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the turn to start", func() bool { return len(seen[agent.Started](w)) == 1 })
	steer := func(id string, size int) error {
		job := executor.Job{ID: id, Context: "one", Input: []agent.Input{agent.Text("more")}, Size: size}
		return e.Steer("j1", job, func(agent.Event) {})
	}
	if err := steer("s1", 90); err != nil {
		t.Fatal(err)
	}
	wantRefused(t, "a message beyond the share", steer("s2", 1), "in this context")
	if err := e.Cancel(context.WithoutCancel(t.Context()), "j1"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the bytes of both to be given back", func() bool { return e.Health().Bytes == 0 })
}
