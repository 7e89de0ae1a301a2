package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A runner plays a script for each job, all at the same time. Submit starts the
// goroutine of a job, close waits for all of them.
type runner struct {
	messageID func(jobID string) string
	hold      time.Duration

	root context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup

	mu   sync.Mutex // guards jobs and the fields of its jobs that say so
	jobs map[string]*job
}

var _ tasks.Runner = (*runner)(nil)

// A job is one that has not ended.
type job struct {
	id      string
	runner  *runner
	observe executor.Observer
	ctx     context.Context
	cancel  context.CancelFunc
	over    chan struct{} // closed when Ended was delivered
	asking  chan string   // the id of the message that answers; nil without a question; guarded by runner.mu
}

func newRunner(messageID func(string) string, hold time.Duration) *runner {
	r := &runner{messageID: messageID, hold: hold, jobs: map[string]*job{}}
	r.root, r.stop = context.WithCancel(context.Background())
	return r
}

// Submit implements [tasks.Runner].
func (r *runner) Submit(submitted executor.Job, observe executor.Observer) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.root.Err() != nil {
		return 0, executor.ErrClosed
	}
	j := &job{id: submitted.ID, runner: r, observe: observe, over: make(chan struct{})}
	j.ctx, j.cancel = context.WithCancel(r.root)
	r.jobs[j.id] = j
	r.wg.Go(j.play)
	return 0, nil
}

// Cancel implements [tasks.Runner].
func (r *runner) Cancel(ctx context.Context, id string) error {
	r.mu.Lock()
	j := r.jobs[id]
	r.mu.Unlock()
	if j == nil {
		return nil
	}
	j.cancel()
	select {
	case <-j.over:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("cancel job %s: %w", id, context.Cause(ctx))
	}
}

// Answer implements [tasks.Runner].
func (r *runner) Answer(jobID string, answer agent.Answer) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	j := r.jobs[jobID]
	if j == nil || j.asking == nil {
		return errors.New("the job asks nothing")
	}
	j.asking <- r.messageID(answer.ID) // has room for one
	j.asking = nil
	return nil
}

// Refuses implements [tasks.Runner].
func (*runner) Refuses(executor.Job) error { return nil }

// Steer implements [tasks.Runner]: no script takes messages while it is played.
func (*runner) Steer(string, executor.Job, executor.Observer) error { return executor.ErrNotRunning }

// Held implements [tasks.Runner].
func (*runner) Held() string { return "" }

func (r *runner) close() {
	r.mu.Lock()
	r.stop()
	r.mu.Unlock()
	r.wg.Wait()
}

// play plays the scripts of the job's message and of the answers to what it asks.
func (j *job) play() {
	defer j.cancel()
	j.observe(agent.Started{ThreadID: "thread", TurnID: "turn-" + j.id})
	id, ended := j.runner.messageID(j.id), (*agent.Ended)(nil)
	for ended == nil {
		if ended = scriptFor(id)(j); ended == nil {
			id, ended = j.ask(id)
		}
	}
	j.runner.mu.Lock()
	delete(j.runner.jobs, j.id)
	j.runner.mu.Unlock()
	j.observe(*ended)
	close(j.over)
}

// ask waits for an answer and returns the id of its message.
func (j *job) ask(id string) (string, *agent.Ended) {
	answered := make(chan string, 1)
	j.runner.mu.Lock()
	j.asking = answered
	j.runner.mu.Unlock()
	j.observe(agent.Question{ID: id, Text: "What else is needed?"})
	select {
	case next := <-answered:
		j.observe(agent.Answered{ID: id})
		return next, nil
	case <-j.ctx.Done():
		return "", j.canceled()
	}
}

func (j *job) canceled() *agent.Ended {
	if j.runner.root.Err() == nil {
		return &agent.Ended{Outcome: agent.Canceled}
	}
	return &agent.Ended{Outcome: agent.Interrupted,
		Failure: &agent.Failure{Kind: agent.FailShutdown, Message: "the system under test is stopping"}}
}
