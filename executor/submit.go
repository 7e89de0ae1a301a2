package executor

import (
	"context"
	"fmt"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// New returns an executor whose jobs a driver carries out.
func New(cfg Config, by Driver) *Executor {
	cfg = cfg.withDefaults()
	root, stop := context.WithCancelCause(context.Background())
	e := &Executor{
		driver: by,
		cfg:    cfg,
		log:    cfg.Logger,
		root:   root,
		stop:   stop,
		queues: map[string]*queue{},
		jobs:   map[string]*job{},
		budget: newBudget(cfg.MaxBytes, cfg.MaxWaiting),
	}
	e.hold = newHold(around{
		by: by, root: root, start: e.wg.Go, waits: e.hasWaiting, tell: e.tellAll,
		probeEvery: cfg.LimitProbe, metrics: cfg.Metrics, log: cfg.Logger,
	})
	e.slots = newSlots(cfg.MaxTurns, cfg.MaxQuestions, by.Idle)
	e.mutes = newMutes(cfg.MaxMute, cfg.MaxQuestions)
	by.Serve(root, hosting{e})
	return e
}

// Submit accepts a job and returns how many jobs of its context are ahead of
// it. From here on the job ends exactly once, with [agent.Ended]. A job that is not
// accepted is not observed at all.
func (e *Executor) Submit(j Job, observe Observer) (ahead int, err error) {
	accepted, ahead, err := e.enqueue(j, observe)
	if err == nil && e.hold.look().cause != nil {
		e.hold.news() // a job waits
		e.tell(accepted)
	}
	return ahead, err
}

// enqueue puts a job at the end of its queue.
func (e *Executor) enqueue(j Job, observe Observer) (accepted *job, ahead int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	q := e.queues[j.Context]
	if err := e.mayAcceptLocked(&j, q); err != nil {
		return nil, 0, err
	}
	ahead = e.aheadLocked(q)
	accepted = e.acceptLocked(j, observe)
	e.enterLocked(accepted, stageQueued)
	if q == nil {
		q = &queue{key: j.Context, idle: make(chan struct{})}
		e.queues[j.Context] = q
		e.heads++
		e.wg.Go(func() { e.serve(q) })
	}
	q.jobs = append(q.jobs, accepted)
	return accepted, ahead, nil
}

// aheadLocked returns how many turns have to end or begin before the next job of q
// can: those of its own context, else those that wait for a slot, and one that
// gives its slot up. q may be nil.
func (e *Executor) aheadLocked(q *queue) int {
	if q != nil && (q.current != nil || len(q.jobs) > 0) {
		n := len(q.jobs)
		if q.current != nil {
			n++
		}
		return n
	}
	if taken, returning := e.slots.ahead(); taken+returning+e.heads >= e.cfg.MaxTurns {
		return returning + e.heads + 1
	}
	return 0
}

// Cancel ends a job: at once if it waits, else by interrupting its turn. It
// returns when the job has ended, however it ended, or when ctx does; the job
// is canceled all the same. Canceling a job that has ended or was never there
// does nothing. A message that was sent to the turn of another job ends with
// that turn at the latest, which is not waited for.
func (e *Executor) Cancel(ctx context.Context, jobID string) error {
	e.mu.Lock()
	j := e.jobs[jobID]
	e.mu.Unlock()
	if j == nil {
		return nil
	}
	e.cfg.Recorder.Cancel(jobID)
	j.cancel(ErrCanceled)
	if e.unqueue(j) {
		defer e.wg.Done()
		e.finish(j, agent.Ended{Outcome: agent.Canceled})
		e.orphaned(j)
		return nil
	}
	if waits, sent := e.unsteer(j); waits {
		defer e.wg.Done()
		e.finish(j, agent.Ended{Outcome: agent.Canceled})
		return nil
	} else if sent {
		return nil
	}
	select {
	case <-j.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("cancel %s: %w", jobID, context.Cause(ctx))
	}
}

// Close refuses new jobs, interrupts the running turns, ends every waiting
// job, and then closes the driver. It returns when all of it is gone, or with an
// error when ctx ended first and the agent had to be killed. Closing twice is fine.
func (e *Executor) Close(ctx context.Context) error {
	e.takeNoMore()
	e.stop(ErrShutdown)
	served := make(chan struct{})
	go func() {
		e.wg.Wait()
		close(served)
	}()
	return e.driver.Close(ctx, served)
}

// takeNoMore refuses new jobs, and has none begin.
func (e *Executor) takeNoMore() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
}

// Answer gives the answer to a question that a job has asked. Where all slots are
// taken it waits for one, before every job in the queue; [agent.Answered] says that the agent
// has it. A [agent.NotUnderstoodError] leaves the question open, and the turn waiting. Any
// other error means that the answer is not waited for any more.
func (e *Executor) Answer(jobID string, a agent.Answer) error {
	refused := e.cfg.Recorder.Answer(jobID, a)
	err := e.driver.Answer(jobID, a)
	if err != nil {
		refused(err)
	}
	return err
}
