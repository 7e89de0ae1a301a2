package executor

import "errors"

var (
	// ErrQueueFull refuses a job because too many wait already, or too many bytes of
	// them, in its context or in all of them together. Trying again later can succeed.
	ErrQueueFull = errors.New("too many messages are waiting")
	// ErrClosed refuses a job because the executor is stopping.
	ErrClosed = errors.New("the runtime is stopping")
	// ErrBusy refuses what a conversation in use does not allow.
	ErrBusy = errors.New("the conversation is in use")
	// ErrNoCodex says that no codex runs which could be asked.
	ErrNoCodex = errors.New("codex does not run")
	// ErrNotAsked refuses an answer that is not waited for.
	ErrNotAsked = errors.New("the question is not open any more")
	// ErrNotRunning says that a job has no turn that a message could go to.
	ErrNotRunning = errors.New("the job has no turn that takes messages")
	// ErrDuplicate refuses a job whose ID belongs to a job that has not ended.
	ErrDuplicate = errors.New("a job with this id is already there")
)

// Why a job's context ended. They are causes, never returned to callers.
var (
	errCanceled = errors.New("canceled by the caller")
	errShutdown = errors.New("the runtime is stopping")
)
