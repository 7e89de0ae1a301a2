package tasks

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// errGone ends what waits for a task that had not ended when the engine was closed.
var errGone error = stoppingError{a2a.NewError(a2a.ErrServerError, "the runtime is stopping; ask for the task again when it is back")}

// A stoppingError is no answer: the next process has one.
type stoppingError struct{ error }

func (e stoppingError) Unwrap() error { return e.error }

// IsStopping reports whether a call has failed because the runtime stops.
func IsStopping(err error) bool {
	_, stopping := errors.AsType[stoppingError](err)
	return stopping
}

// journalError tells the caller that the journal failed and the log why. The end of the
// caller's context is no failure: what is asked for its sake ends with it.
func (e *Engine) journalError(doing string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, store.ErrFull) {
		if e.full.rarely(time.Minute) { // every message would say it again
			e.log.Error("the disk is full: nothing new is accepted until there is room", "operation", doing, "err", err)
		}
		return refusal.New(a2a.ErrServerError, "the runtime's disk is full and it takes nothing new; send the message again when there is room")
	}
	if errors.Is(err, store.ErrReplaced) {
		if e.full.rarely(time.Minute) {
			e.log.Error("the state was replaced while it was in use: nothing new is accepted until the runtime is restarted", "operation", doing, "err", err)
		}
		return refusal.New(a2a.ErrServerError, "the runtime's state was replaced while it was in use, and it takes nothing new; send the message again when it has been restarted")
	}
	e.log.Error("the journal failed", "operation", doing, "err", err)
	return refusal.New(a2a.ErrInternalError, "the runtime could not %s; its log says why", doing)
}

// notQueued says why the runner did not take a job.
func (e *Engine) notQueued(err error) error {
	switch {
	case errors.Is(err, executor.ErrQueueFull):
		return refusal.New(a2a.ErrServerError, "%v; send this one again later", err)
	case errors.Is(err, executor.ErrClosed):
		return stopping()
	}
	e.log.Error("a message could not be queued", "err", err)
	return refusal.New(a2a.ErrInternalError, "the message could not be queued; the runtime's log says why")
}

func stopping() error {
	return stoppingError{refusal.New(a2a.ErrServerError, "the runtime is stopping; send the message again when it is back")}
}

// A seldom lets something happen once in a while.
type seldom struct{ last atomic.Int64 }

// rarely reports whether it is d since it last said so.
func (s *seldom) rarely(d time.Duration) bool {
	now, last := time.Now().UnixNano(), s.last.Load()
	return now-last >= int64(d) && s.last.CompareAndSwap(last, now)
}
