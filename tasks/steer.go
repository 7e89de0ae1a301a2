package tasks

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// steerWait is how long the sender of a message waits at most to hear whether the
// running turn takes it.
const steerWait = 5 * time.Second

// steer hands a message to the turn of its task that runs. It reports whether
// that was possible.
func (e *Engine) steer(t *task, r *run, job executor.Job) (bool, error) {
	into := t.turning(r, job.Options)
	if into == "" {
		return false, nil
	}
	err := e.cfg.steer(into, job, r.observe)
	if errors.Is(err, executor.ErrNotRunning) {
		return false, nil
	}
	return err == nil, err
}

// turning returns the job whose turn runs, or "" if there is none, or none that a
// message which asks for the options can be part of. The run besides is left out.
func (t *task) turning(besides *run, options agent.Options) string {
	t.lock()
	defer t.unlock()
	for _, r := range t.runs {
		if r != besides && !r.started.IsZero() && r.waits == nil && options.FitInto(r.options) {
			return r.jobID
		}
	}
	return ""
}

// admitSteer lets in the events of a message that was handed to the running turn.
// What becomes of it is told as soon as it is known.
func (t *task) admitSteer(r *run) *view {
	t.lock()
	defer t.unlock()
	r.known = make(chan struct{})
	if !t.status.State.Terminal() {
		r.tellFate(fate{})
	}
	v := t.viewLocked()
	v.sent = r
	r.admit()
	return v
}

// settleTaken ends the runs of messages that became part of the turn that has just ended, and returns
// the ids of the questions that they have answered.
func (t *state) settleTaken(jobs []string) (answered []string) {
	for _, job := range jobs {
		i := slices.IndexFunc(t.runs, func(r *run) bool { return r.jobID == job })
		if i < 0 {
			continue
		}
		r := t.runs[i]
		if r.fate.turn != keys.TurnSteered {
			r.decide(fate{turn: keys.TurnSteered})
		}
		answered = append(answered, r.answers...)
		r.finish()
		r.leave()
	}
	return answered
}

// decided returns the task once it is known what became of the message, or when
// that takes too long, with that in its metadata.
func (v *view) decided(ctx context.Context) (*a2a.Task, error) {
	if v.sent == nil {
		return v.task, nil
	}
	timer := time.NewTimer(steerWait)
	defer timer.Stop()
	select {
	case <-v.sent.wait():
	case <-timer.C:
	case <-v.of.engine.root.Done():
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return v.sent.seen(), nil
}

// wait returns a channel that is closed when the fate of the message is known.
func (r *run) wait() <-chan struct{} {
	r.task.lock()
	defer r.task.unlock()
	if r.known != nil {
		return r.known
	}
	done := make(chan struct{})
	close(done)
	return done
}

// seen is the task as the sender of this message sees it: other messages may have
// come since.
func (r *run) seen() *a2a.Task {
	t := r.task
	t.lock()
	defer t.unlock()
	task := *t.snapshot()
	task.Metadata = maps.Clone(task.Metadata)
	for key, value := range r.fate.meta() {
		if value == nil {
			delete(task.Metadata, key)
		} else {
			task.Metadata[key] = value
		}
	}
	return &task
}

// reject ends a message that asks for what it may not have any more: the settings have changed
// since it was accepted, or since the turn ran whose question it answers, or a folder is gone.
func (r *run) reject() {
	end := agent.Ended{Outcome: agent.Rejected, Failure: &agent.Failure{Kind: agent.FailModel, Message: r.refused.Error()}}
	if r.attempt > 0 { // some of it may have been done
		end.Outcome, end.Tools = agent.Interrupted, true
	}
	r.task.lock()
	defer r.task.unlock()
	r.early = append(r.early, end)
	r.admit()
}
