package executor

import (
	"cmp"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// A hold keeps turns from being started while the model would refuse them. There
// is one child, so there is one credential and one hold. It is about the model that
// threads have: what one job is refused alone, see alone.go, does not close it.
//
//	open ──a refusal──▶ held ──▶ deciding ──the model answers──▶ open
//	                     ▲            │
//	                     └──refused───┘
//
// A refusal closes it. While it is closed one goroutine, keep, is the only one
// that asks the model: what turns would find out one by one, it finds out for
// all of them. The jobs wait at the gate, those behind them in their queues.
type hold struct {
	mu       sync.Mutex // guards the fields below
	cause    *Refusal   // nil while it is open
	since    time.Time
	until    time.Time     // when it is looked at again; zero if that is not a matter of time
	shown    *Pause        // what waiting jobs are told; nil until that is known, and while it is open
	deciding bool          // the limit may have ended: whoever comes waits for the answer
	changed  chan struct{} // closed and replaced at each change
	doubt    chan struct{} // closed at the end of [Executor.doubt]; nil while that does not run

	wake chan struct{} // 1-buffered: there is something new for keep
}

func newHold() *hold {
	return &hold{changed: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// A standing is the hold at one moment.
type standing struct {
	cause        *Refusal
	since, until time.Time
	shown        *Pause
	deciding     bool
	changed      <-chan struct{}
	doubt        <-chan struct{}
}

func (h *hold) look() standing {
	h.mu.Lock()
	defer h.mu.Unlock()
	return standing{h.cause, h.since, h.until, h.shown, h.deciding, h.changed, h.doubt}
}

// change changes the hold and tells those who wait for that.
func (h *hold) change(by func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	by()
	close(h.changed)
	h.changed = make(chan struct{})
}

// news wakes keep.
func (h *hold) news() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// refused closes the hold because of r. While it is closed already, a refused
// credential counts more than a limit, and the limit that ends last most.
func (e *Executor) refused(r *Refusal) {
	h := e.hold
	opened := false
	h.change(func() {
		switch {
		case h.cause == nil:
			opened = true
			h.cause, h.since, h.until, h.shown, h.deciding = r, time.Now(), time.Time{}, nil, false
		case r.Kind == h.cause.Kind && r.Until.After(h.cause.Until):
			h.cause = r
		case r.Kind == agent.FailAuth && h.cause.Kind == agent.FailLimit:
			h.cause, h.shown = r, nil
		}
		e.countHeld(h.cause.Kind)
	})
	if !opened {
		h.news()
		return
	}
	e.log.Warn("the model refuses; no turn is started until it answers again", "kind", string(r.Kind), "code", r.Code, "limit", r.Limit, "until", r.Until)
	e.wg.Go(e.keep) // a turn has brought the refusal, so the group is not empty
}

// countHeld tells the metrics what the hold is about. It is called as it changes.
func (e *Executor) countHeld(kind agent.FailureKind) {
	for _, each := range []agent.FailureKind{agent.FailAuth, agent.FailLimit} {
		e.cfg.Metrics.Held(string(each), each == kind)
	}
}

// release opens the hold.
func (e *Executor) release() {
	h := e.hold
	h.change(func() {
		h.cause, h.shown, h.deciding, h.until = nil, nil, false, time.Time{}
		e.countHeld("")
	})
	e.log.Info("turns are started again")
	e.tellAll()
}

// show says what waiting jobs are told from now on.
func (e *Executor) show(what *Pause) {
	e.hold.change(func() { e.hold.shown = what })
	e.tellAll()
}

// tellAll tells every waiting job how the hold stands.
func (e *Executor) tellAll() {
	e.mu.Lock()
	all := make([]*job, 0, len(e.jobs))
	for _, j := range e.jobs {
		all = append(all, j)
	}
	e.mu.Unlock()
	for _, j := range all {
		e.tell(j)
	}
}

// tell tells a waiting job how the hold stands. A job that is turned away ends,
// unless somebody serves it: it finds out by itself.
func (e *Executor) tell(j *job) {
	now := e.hold.look()
	if away := e.turnedAway(j, now); away != nil {
		if e.unqueue(j) {
			defer e.wg.Done()
			e.finish(j, *away)
		}
		return
	}
	j.standing.update(e.hold, j.observe)
}

// shortLimit is how long a job whose sender stands and waits is held by a limit
// that came after it.
const shortLimit = time.Minute

// turnedAway is the end of a job that does not wait for the end of a limit, or
// nil if it does.
func (e *Executor) turnedAway(j *job, now standing) *agent.Ended {
	switch {
	case now.cause == nil, now.cause.Kind != agent.FailLimit, now.deciding, j.Patient:
		return nil
	case j.submitted.Before(now.since) && time.Since(now.since) < shortLimit && time.Until(now.until) < shortLimit:
		return nil
	}
	return &agent.Ended{Outcome: agent.Failed, Failure: now.cause.Failure(false)}
}

// gate waits until the hold is open, and the job does not wait alone, or for codex. It returns
// the end of a job that does not get that far.
func (e *Executor) gate(j *job) *agent.Ended {
	e.awaitChild(j)
	if end := e.sitOut(j); end != nil {
		return end
	}
	for {
		now := e.hold.look()
		if now.cause == nil {
			return nil
		}
		if away := e.turnedAway(j, now); away != nil {
			return away
		}
		e.hold.news() // somebody waits
		j.standing.update(e.hold, j.observe)
		select {
		case <-now.changed:
		case <-j.ctx.Done():
			end := e.beforeStart(causeOf(j.ctx, nil))
			return &end
		}
	}
}

// A told is what a waiting job has been told of the hold. Its lock keeps the
// observer's calls apart.
type told struct {
	peer bool // its job is another agent's; never changes

	mu   sync.Mutex // guards the fields below
	own  *Pause     // what the job waits for alone, or nil
	what *Pause
	ever bool // it has been told to wait before
	gone bool // it does not wait: a turn of it runs, or it has ended
}

func (t *told) wasHeld() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ever
}

// update tells a job what is new to it. The hold is looked at under the lock, so that
// what is told last is what is.
func (t *told) update(h *hold, observe Observer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch what := cmp.Or(t.own, h.look().shown.to(t.peer)); {
	case t.gone || what == t.what:
	case what == nil:
		t.what = nil
		observe(agent.Resumed{})
	default:
		t.what, t.ever = what, true
		observe(what.Paused)
	}
}

// alone tells a job what it waits for alone; nil says that it does no more.
func (t *told) alone(own *Pause, h *hold, observe Observer) {
	t.mu.Lock()
	t.own = own
	t.mu.Unlock()
	t.update(h, observe)
}

// leave says that the job waits no more.
func (t *told) leave(observe Observer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.what != nil && observe != nil {
		observe(agent.Resumed{})
	}
	t.what, t.gone = nil, true
}

// comeBack says that the job waits again.
func (t *told) comeBack() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = false
}
