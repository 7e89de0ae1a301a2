package executor

import (
	"context"
	"log/slog"
	"sync"
	"time"
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
	slot      *slot     // nil before it has got one
	attempt   Attempt   // the newest one; its N is 0 before the first
	rerun     bool      // one attempt was cut off without a tool, and run again
	compacted bool      // its thread was compacted for it
	goOn      bool      // its next attempt goes on where the one before met the end of the context
	refusals  int       // attempts that the model refused for the credential or a limit
	aside     *Refusal  // that it is about to wait out alone, or nil; of the goroutine that serves it
	unstarted error     // the failed start of the agent that it is about to wait out, or nil; likewise
	crowded   *Trouble  // the lack of room that it is about to wait out, or nil; likewise
	crowdedBy string    // what it was told last of that
	crowdedAt time.Time // since when it has waited
	seen      Turn      // of the attempt that Cut is about, where this process has seen it; else nil
	pause     pauseTold
	ctx       context.Context // ends with [ErrCanceled] or [ErrShutdown]
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

// A queue has the jobs of one context. It is there while it has any. Executor.mu guards it.
type queue struct {
	key     string
	jobs    []*job        // that wait, in their order
	current *job          // taken from the queue and not ended, or nil
	idle    chan struct{} // closed when the last job has ended
}

// A steering is the way for messages into one running turn: they go one by one, in
// their order.
type steering struct {
	e    *Executor
	j    *job
	t    Turn
	turn string          // its ID
	ctx  context.Context // ends with the turn
	stop context.CancelFunc
	busy bool          // work runs; guarded by Executor.mu
	idle chan struct{} // closed when work has ended; replaced with each start of it
	lent []func()      // give back what the agent has been lent for what was sent; work's
}
