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
	// ErrNotAsked refuses an answer that is not waited for.
	ErrNotAsked = errors.New("the question is not open any more")
	// ErrNotRunning says that a job has no turn that a message could go to.
	ErrNotRunning = errors.New("the job has no turn that takes messages")
	// ErrDuplicate refuses a job whose ID belongs to a job that has not ended.
	ErrDuplicate = errors.New("a job with this id is already there")
)

// Why a job's context ended. They are causes, which a driver hands back and callers never see.
var (
	// ErrCanceled says that it was canceled.
	ErrCanceled = errors.New("canceled by the caller")
	// ErrShutdown says that the executor is closed.
	ErrShutdown = errors.New("the runtime is stopping")
)
