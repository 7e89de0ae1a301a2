package executor

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// An Executor runs jobs as turns of an agent. Create it with [New].
type Executor struct {
	driver Driver
	cfg    Config
	log    *slog.Logger
	slots  *slots
	mutes  *mutes
	hold   *hold

	root context.Context // ends with [ErrShutdown]
	stop context.CancelCauseFunc
	wg   sync.WaitGroup // the goroutines of queues, and what they have started

	mu       sync.Mutex // guards the fields below and the queues
	closed   bool
	queues   map[string]*queue // by context
	jobs     map[string]*job   // every job that has not ended
	accepted int64             // jobs accepted in all
	waiting  int               // jobs that hold no slot yet and are in no turn: in queues, at the head of one, or on the way into a turn
	heads    int               // contexts whose first job waits for a slot
	budget   budget
	drain    drain
}

// A job is a Job with its observer and its life.
type job struct {
	Job
	observe   Observer
	submitted time.Time
	slot      *slot    // nil before it has got one
	attempt   Attempt  // the newest one; its N is 0 before the first
	rerun     bool     // one attempt was cut off without a tool, and run again
	compacted bool     // its thread was compacted for it
	goOn      bool     // its next attempt goes on where the one before met the end of the context
	refusals  int      // attempts that the model refused for the credential or a limit
	aside     *Refusal // that it is about to wait out alone, or nil; of whoever serves it
	unstarted error    // the failed start of codex that it is about to wait out, or nil; likewise
	seen      Turn     // of the attempt that Cut is about, where this process has seen it; else nil
	standing  told
	ctx       context.Context // ends with errCanceled or errShutdown
	cancel    context.CancelCauseFunc
	done      chan struct{} // closed after Ended was observed

	// Guarded by Executor.mu; see stage.go and steer.go.
	seq      int64 // the order of acceptance
	stage    stage
	steering *steering // into the turn that runs; nil if none does
	steers   []*job    // messages that were handed to its turns, in the order of acceptance
	into     *job      // whose turn it was handed to; nil if it is in a queue, or out of one
	steered  bool      // Steered was observed
}

// New returns an executor whose jobs a driver carries out.
func New(cfg Config, by Driver) *Executor {
	cfg = cfg.withDefaults()
	root, stop := context.WithCancelCause(context.Background())
	e := &Executor{
		driver: by,
		cfg:    cfg,
		log:    cfg.Logger,
		hold:   newHold(),
		root:   root,
		stop:   stop,
		queues: map[string]*queue{},
		jobs:   map[string]*job{},
		budget: newBudget(cfg.MaxBytes, cfg.MaxWaiting),
	}
	e.slots = newSlots(cfg.MaxTurns, cfg.MaxQuestions, by.Idle)
	e.mutes = newMutes(cfg.MaxMute, cfg.MaxQuestions)
	by.Serve(root, hosting{e})
	return e
}

// Submit accepts a job and returns how many jobs of its context are ahead of
// it. From here on the job ends exactly once, with [agent.Ended]. A job that is not
// accepted is not observed at all.
func (e *Executor) Submit(j Job, observe Observer) (ahead int, err error) {
	e.record(RecordSubmit, RecordedJob{Job: j})
	accepted, ahead, err := e.enqueue(j, e.cfg.recorded(j.ID, observe))
	e.unaccepted(j.ID, err)
	if err == nil && e.hold.look().cause != nil {
		e.hold.news() // somebody waits
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

// mayAcceptLocked refuses a job for which there is no room; q may be nil.
func (e *Executor) mayAcceptLocked(j *Job, q *queue) error {
	queued := 0
	if q != nil {
		queued = len(q.jobs)
		if q.current != nil {
			for _, s := range q.current.steers {
				if s.stage.waits() {
					queued++
				}
			}
		}
	}
	switch {
	case e.closed:
		return ErrClosed
	case e.jobs[j.ID] != nil:
		return fmt.Errorf("%w: %q", ErrDuplicate, j.ID)
	case !j.Accepted && queued >= e.cfg.MaxQueue:
		return fmt.Errorf("%w: %d in this context, which is the most (RUNTIME_MAX_QUEUE)", ErrQueueFull, queued)
	case !j.Accepted && e.waiting >= e.cfg.MaxWaiting:
		return fmt.Errorf("%w: %d over all contexts, which is the most there may be", ErrQueueFull, e.waiting)
	case !j.Accepted:
		return e.budget.refuses(j)
	}
	return nil
}

// acceptLocked makes a job of a Job.
func (e *Executor) acceptLocked(j Job, observe Observer) *job {
	ctx, cancel := context.WithCancelCause(e.root)
	e.accepted++
	accepted := &job{
		Job: j, observe: observe, submitted: time.Now(), seq: e.accepted, ctx: ctx, cancel: cancel, done: make(chan struct{}),
		standing: told{peer: j.Peer},
	}
	e.jobs[j.ID] = accepted
	e.budget.add(&j)
	return accepted
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
	e.record(RecordCancel, RecordedFact{Of: jobID})
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

// unqueue takes j out of its queue and reports whether it was still there. If so
// the caller has been added to e.wg, which is not empty yet: the goroutine that
// serves the queue has not seen the end of it.
func (e *Executor) unqueue(j *job) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	q := e.queues[j.Context]
	if q == nil { // it has ended in the meantime
		return false
	}
	for i, waiting := range q.jobs {
		if waiting == j {
			q.jobs = append(q.jobs[:i], q.jobs[i+1:]...)
			e.adoptLocked(q, j)
			e.wg.Add(1)
			return true
		}
	}
	return false
}

// finish tells the observer the end of j, and lets it go. The caller is the one that took j
// out of its queue, so there is only one.
func (e *Executor) finish(j *job, end agent.Ended) {
	e.tellEnd(j, end)
	e.enter(j, stageGone)
}

// tellEnd is finish for a job in whose turn there are messages of others, which are to be told after it.
func (e *Executor) tellEnd(j *job, end agent.Ended) {
	j.standing.leave(nil)
	e.mu.Lock()
	e.enterLocked(j, stageTold)
	e.budget.remove(&j.Job) // who hears of the end has room for the next
	e.mu.Unlock()
	j.observe(end)
	j.cancel(nil)
	e.mu.Lock()
	delete(e.jobs, j.ID)
	e.mu.Unlock()
	close(j.done)
}

// Close refuses new jobs, interrupts the running turns, ends every waiting
// job, and then closes the driver. It returns when all of it is gone, or with an
// error when ctx ended first and the agent had to be killed. Closing twice is fine.
func (e *Executor) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.stop(ErrShutdown)
	served := make(chan struct{})
	go func() {
		e.wg.Wait()
		close(served)
	}()
	return e.driver.Close(ctx, served)
}

// Answer gives the answer to a question that a job has asked. Where all slots are
// taken it waits for one, before every job in the queue; [agent.Answered] says that the agent
// has it. A [agent.NotUnderstoodError] leaves the question open, and the turn waiting. Any
// other error means that the answer is not waited for any more.
func (e *Executor) Answer(jobID string, a agent.Answer) error {
	e.record(RecordAnswer, RecordedAnswer{jobID, a})
	err := e.driver.Answer(jobID, a)
	e.unaccepted(a.ID, err)
	return err
}
