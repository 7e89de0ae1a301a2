package tasks

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A Runner makes turns of jobs; an [executor.Executor] is one. Nothing of it but Cancel
// may block.
type Runner interface {
	// Submit queues a job and returns how many of its context are ahead of it.
	// Its observer is called as [executor.Observer] says, perhaps before Submit
	// has returned.
	Submit(job executor.Job, observe executor.Observer) (ahead int, err error)
	// Refuses says why it would not take a job now; nil if it would.
	Refuses(job executor.Job) error
	// Steer hands a message to the turn of the job into, as [executor.Executor.Steer]
	// does. [executor.ErrNotRunning] means that the job has no such turn, and that
	// nothing was accepted.
	Steer(into string, job executor.Job, observe executor.Observer) error
	// Answer gives the answer to a question of a job. An [agent.NotUnderstoodError]
	// leaves the question open; any other error means that the answer is not waited
	// for any more.
	Answer(jobID string, answer agent.Answer) error
	// Cancel ends a job and returns once its Ended event was delivered. A job that
	// has ended or was never there is no error.
	Cancel(ctx context.Context, jobID string) error
	// Held says why no turn is started, since the model would refuse it; "" if they are.
	Held() string
}

var _ Runner = (*executor.Executor)(nil)

// submit queues a job, watched.
func (c *Config) submit(job executor.Job, observe executor.Observer) (ahead int, err error) {
	observe, refused := c.Watchers.Watch(job, "", observe)
	if ahead, err = c.Runner.Submit(job, observe); err != nil {
		refused(err)
	}
	return ahead, err
}

// steer hands a job to the turn of another, watched.
func (c *Config) steer(into string, job executor.Job, observe executor.Observer) error {
	observe, refused := c.Watchers.Watch(job, into, observe)
	err := c.Runner.Steer(into, job, observe)
	if err != nil {
		refused(err)
	}
	return err
}
