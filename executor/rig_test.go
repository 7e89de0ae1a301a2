package executor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// patience bounds every wait, in simulated time.
const patience = 3 * time.Hour

// A rig is an executor whose agent is scripted, in a bubble of simulated time.
type rig struct {
	*executor.Executor
	t       *testing.T
	agent   *scripted
	journal *journal
}

// simulated runs a test in simulated time. What is set before the executor is made stands in change; nil for nothing.
func simulated(t *testing.T, change func(*executor.Config, *scripted), test func(t *testing.T, e *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newRig(t, &past{}, &journal{}, change)) })
}

// newRig is the executor of one process; others may have had the past and the journal before it.
func newRig(t *testing.T, of *past, kept *journal, change func(*executor.Config, *scripted)) *rig {
	t.Helper()
	by, cfg := newScripted(of), executor.Config{Journal: kept}
	if change != nil {
		change(&cfg, by)
	}
	e := &rig{Executor: executor.New(cfg, by), t: t, agent: by, journal: kept}
	t.Cleanup(e.close)
	return e
}

// next is the process after e, which is stopped.
func (e *rig) next(change func(*executor.Config, *scripted)) *rig {
	e.t.Helper()
	e.close()
	return newRig(e.t, e.agent.past, e.journal, change)
}

func (e *rig) close() {
	e.t.Helper()
	if err := e.Close(context.Background()); err != nil {
		e.t.Errorf("Close: %v", err)
	}
}

// cancel cancels a job.
func (e *rig) cancel(id string) {
	e.t.Helper()
	if err := e.Cancel(context.Background(), id); err != nil {
		e.t.Fatal(err)
	}
}

// reply answers what a job asks.
func (e *rig) reply(job string, q agent.Question, text string) {
	e.t.Helper()
	if err := e.Answer(job, agent.Answer{Question: q.ID, Text: text}); err != nil {
		e.t.Fatalf("Answer: %v", err)
	}
}

// A change makes a job another one.
type change func(*executor.Job)

func patient(j *executor.Job)  { j.Patient = true }
func mute(j *executor.Job)     { j.Mute = true }
func peer(j *executor.Job)     { j.Peer = true }
func accepted(j *executor.Job) { j.Accepted = true }

// rare has a job name a model.
func rare(j *executor.Job) { j.Options.Model = "rare" }

func sized(n int) change { return func(j *executor.Job) { j.Size = n } }

// cut has a job be one in whose first attempt an earlier process was cut off.
func cut(j *executor.Job) {
	j.Cut, j.Accepted = &executor.Cut{Attempt: 1, ThreadID: threadOf(j.Context)}, true
}

func jobOf(id, context string, changes []change) executor.Job {
	j := executor.Job{ID: id, Context: context, Input: []agent.Input{agent.Text(id)}}
	for _, change := range changes {
		change(&j)
	}
	return j
}

// submit submits a job whose text is its id.
func (e *rig) submit(id, context string, changes ...change) *witness {
	e.t.Helper()
	w, err := e.offer(id, context, changes...)
	if err != nil {
		e.t.Fatalf("Submit %s: %v", id, err)
	}
	return w
}

// offer is submit for a job that may be refused.
func (e *rig) offer(id, context string, changes ...change) (*witness, error) {
	w := &witness{t: e.t, ended: make(chan agent.Ended, 1)}
	_, err := e.Submit(jobOf(id, context, changes), w.observe)
	return w, err
}

// steer hands a message to the turn of a job, in the same context.
func (e *rig) steer(into, id, context string, changes ...change) *witness {
	e.t.Helper()
	w := &witness{t: e.t, ended: make(chan agent.Ended, 1)}
	if err := e.Steer(into, jobOf(id, context, changes), w.observe); err != nil {
		e.t.Fatalf("Steer %s: %v", id, err)
	}
	return w
}

// A witness observes one job.
type witness struct {
	t     *testing.T
	ended chan agent.Ended

	mu     sync.Mutex
	events []agent.Event
}

func (w *witness) observe(event agent.Event) {
	w.mu.Lock()
	w.events = append(w.events, event)
	w.mu.Unlock()
	if end, ok := event.(agent.Ended); ok {
		w.ended <- end
	}
}

// wait waits for the end.
func (w *witness) wait() agent.Ended {
	w.t.Helper()
	select {
	case end := <-w.ended:
		return end
	case <-time.After(patience):
		w.t.Fatalf("the job does not end: %+v", w.events)
		return agent.Ended{}
	}
}

// ends waits for the end, and checks which it is.
func (w *witness) ends(outcome agent.Outcome, kind agent.FailureKind) agent.Ended {
	w.t.Helper()
	end := w.wait()
	got := agent.FailureKind("")
	if end.Failure != nil {
		got = end.Failure.Kind
	}
	if end.Outcome != outcome || got != kind {
		w.t.Fatalf("end = %s/%s (%v), want %s/%s", end.Outcome, got, end.Failure, outcome, kind)
	}
	return end
}

// completes wants the job to end well.
func (w *witness) completes() agent.Ended {
	w.t.Helper()
	return w.ends(agent.Completed, "")
}

// has waits for the n-th event of a type, from 1.
func has[E agent.Event](w *witness, n int) (event E) {
	w.t.Helper()
	eventually(w.t, fmt.Sprintf("event %d of type %T", n, event), func() bool { return len(seen[E](w)) >= n })
	return seen[E](w)[n-1]
}

// starts waits for the start of a turn.
func (w *witness) starts() *witness {
	w.t.Helper()
	has[agent.Started](w, 1)
	return w
}

// waits checks that the job has not ended.
func (w *witness) waits() {
	w.t.Helper()
	synctest.Wait()
	if len(w.ended) > 0 {
		w.t.Errorf("the job has ended: %+v", <-w.ended)
	}
}

func seen[E agent.Event](w *witness) (found []E) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, event := range w.events {
		if e, ok := event.(E); ok {
			found = append(found, e)
		}
	}
	return found
}

func said(end agent.Ended) string {
	var all []string
	for _, m := range end.Messages {
		all = append(all, m.Text)
	}
	return strings.Join(all, "|")
}

// eventually waits until something is, which nothing else is to happen for but the passing of time.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		synctest.Wait()
		switch {
		case ok():
			return
		case time.Since(began) > time.Hour:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// A journal is kept in memory. It implements [executor.Journal].
type journal struct {
	mu       sync.Mutex // guards the fields below
	attempts []executor.Attempt
	vanished []string // attempts that came to nothing
	full     bool     // nothing can be written
}

func (j *journal) Begin(_ context.Context, a executor.Attempt) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.full {
		return errors.New("no space left on device")
	}
	j.attempts = append(j.attempts, a)
	return nil
}

func (j *journal) Vanished(_ context.Context, a executor.Attempt) (n int, _ error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if id := a.ClientID(); !slices.Contains(j.vanished, id) {
		j.vanished = append(j.vanished, id)
	}
	for _, id := range j.vanished {
		if strings.HasPrefix(id, a.Job+".") {
			n++
		}
	}
	return n, nil
}

// fills has the disk be full, or not.
func (j *journal) fills(full bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.full = full
}

// begun counts the attempts at a job.
func (j *journal) begun(job string) (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, a := range j.attempts {
		if a.Job == job {
			n++
		}
	}
	return n
}
