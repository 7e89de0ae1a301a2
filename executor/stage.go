package executor

import "slices"

// A stage is where a job is on its way. Executor.mu guards it, and enterLocked is its one door.
//
//	queued ──▶ served ──▶ begun ──▶ running ──▶ closing ──▶ told ──▶ gone
//	   ▲          │         │          │           │
//	   └──────────┴─────────┴──────────┴───────────┘ waits again
//
//	offered ──▶ sent ──▶ taken ──▶ told ──▶ gone
//	   ▲ │        │        │
//	   │ └────────┴──▶ queued
//	   └──────────┴────────┘ the turn was void
//
// From wherever it is a job can be told of its end.
type stage string

const (
	stageQueued  stage = "queued"  // in its queue, or at the head of it without a slot
	stageServed  stage = "served"  // it has got its slot, or waits for none any more
	stageBegun   stage = "begun"   // attempts are made at it, and none has become a turn
	stageRunning stage = "running" // one has: further messages may go into its turns
	stageClosing stage = "closing" // its turns take no more messages
	stageTold    stage = "told"    // its observer knows of its end, or is about to; the messages in its turn may not
	stageGone    stage = "gone"

	stageOffered stage = "offered" // to the turn of another job, and not sent yet
	stageSent    stage = "sent"    // to that turn: it may have been taken
	stageTaken   stage = "taken"   // it stands in the history of the turn
)

// ways says which stage can follow which. The first is of a job that is accepted.
var ways = map[stage][]stage{ //nolint:gochecknoglobals // a table
	"":           {stageQueued, stageOffered, stageSent},
	stageQueued:  {stageServed, stageClosing, stageTold},
	stageServed:  {stageBegun, stageClosing, stageQueued, stageTold},
	stageBegun:   {stageRunning, stageClosing, stageQueued, stageTold},
	stageRunning: {stageClosing, stageQueued, stageTold},
	stageClosing: {stageQueued, stageTold},
	stageTold:    {stageGone},
	stageOffered: {stageSent, stageQueued, stageTold},
	stageSent:    {stageTaken, stageOffered, stageQueued, stageTold},
	stageTaken:   {stageOffered, stageTold},
}

// waits reports whether a job in it has no turn yet, nor, as far as is known, a part in one.
func (s stage) waits() bool { return s == stageQueued || s == stageOffered || s == stageSent }

// drains reports whether a drain waits for a job in it: one that has begun, or is about to hear of its end.
func (s stage) drains() bool {
	return s == stageBegun || s == stageRunning || s == stageClosing || s == stageTold
}

// enterLocked moves a job to another stage, and counts it there.
func (e *Executor) enterLocked(j *job, to stage) {
	from := j.stage
	if !slices.Contains(ways[from], to) {
		e.log.Error("a job has gone a way that there is not", "job", j.ID, "from", string(from), "to", string(to))
	}
	j.stage = to
	if by := count(to.waits()) - count(from.waits()); by != 0 {
		e.waiting += by
		e.cfg.Metrics.QueueDepth(e.waiting)
	}
	e.drain.countLocked(count(to.drains()) - count(from.drains()))
}

// enter is enterLocked for a caller that does not hold Executor.mu.
func (e *Executor) enter(j *job, to stage) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.enterLocked(j, to)
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}
