package executor

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/slowlock"
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
	around

	mu       sync.Mutex // guards the fields below
	cause    *Refusal   // nil while it is open
	since    time.Time
	until    time.Time     // when it is looked at again; zero if that is not a matter of time
	shown    *Pause        // what waiting jobs are told; nil until that is known, and while it is open
	deciding bool          // the limit may have ended: whoever comes waits for the answer
	changed  chan struct{} // closed and replaced at each change
	doubting chan struct{} // closed at the end of [hold.doubt]; nil while that does not run

	wake chan struct{} // 1-buffered: there is something new for keep
}

// around is what a hold needs of the executor.
type around struct {
	by         Credential
	root       context.Context
	start      func(func()) // a goroutine, on which the executor waits as it closes
	waits      func() bool  // whether a job waits
	tell       func()       // has each waiting job be told how the hold stands
	probeEvery time.Duration
	metrics    Metrics
	log        *slog.Logger
}

func newHold(of around) *hold {
	return &hold{around: of, changed: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// A holdNow is the hold at one moment.
type holdNow struct {
	cause        *Refusal
	since, until time.Time
	shown        *Pause
	deciding     bool
	changed      <-chan struct{}
	doubt        <-chan struct{}
}

func (h *hold) look() holdNow {
	h.mu.Lock()
	defer h.mu.Unlock()
	return holdNow{h.cause, h.since, h.until, h.shown, h.deciding, h.changed, h.doubting}
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
func (h *hold) refused(r *Refusal) {
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
		h.countHeld(h.cause.Kind)
	})
	if !opened {
		h.news()
		return
	}
	h.log.Warn("the model refuses; no turn is started until it answers again", "kind", string(r.Kind), "code", r.Code, "limit", r.Limit, "until", r.Until)
	h.start(h.keep) // the group is not empty: a turn has brought the refusal, or see [hosting.Refused]
}

// countHeld tells the metrics what the hold is about. It is called as it changes.
func (h *hold) countHeld(kind agent.FailureKind) {
	for _, each := range []agent.FailureKind{agent.FailAuth, agent.FailLimit} {
		h.metrics.Held(string(each), each == kind)
	}
}

// release opens the hold.
func (h *hold) release() {
	h.change(func() {
		h.cause, h.shown, h.deciding, h.until = nil, nil, false, time.Time{}
		h.countHeld("")
	})
	h.log.Info("turns are started again")
	h.tell()
}

// show says what waiting jobs are told from now on.
func (h *hold) show(what *Pause) {
	h.change(func() { h.shown = what })
	h.tell()
}

// A pauseTold is what a waiting job has been told of the hold. Its lock keeps the
// observer's calls apart.
type pauseTold struct {
	peer bool // its job is another agent's; never changes

	mu   slowlock.Lock // guards the fields below
	own  *Pause        // what the job waits for alone, or nil
	what *Pause
	ever bool // it has been told to wait before
	gone bool // it does not wait: a turn of it runs, or it has ended
}

func (t *pauseTold) wasHeld() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ever
}

// update tells a job what is new to it. The hold is looked at under the lock, so that
// what is told last is what is.
func (t *pauseTold) update(h *hold, observe Observer) {
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
func (t *pauseTold) alone(own *Pause, h *hold, observe Observer) {
	t.mu.Lock()
	t.own = own
	t.mu.Unlock()
	t.update(h, observe)
}

// leave says that the job waits no more.
func (t *pauseTold) leave(observe Observer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.what != nil && observe != nil {
		observe(agent.Resumed{})
	}
	t.what, t.gone = nil, true
}

// comeBack says that the job waits again.
func (t *pauseTold) comeBack() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = false
}
