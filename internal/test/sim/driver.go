package sim

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A driver carries turns out in the world, for one life of the runtime. It implements [executor.Driver].
type driver struct {
	*world
	life    int
	host    executor.Host
	begun   atomic.Int64
	strikes func(n int64) // called behind the start of the n-th turn
	root    context.Context
	wg      sync.WaitGroup

	mu       sync.Mutex // guards the fields below; nothing waits while it is held
	child    *child     // nil while none runs
	starts   int
	starting chan struct{} // closed at the end of the start that is made; nil if none is
	failing  time.Time     // of the first failed start in a row
	dead     bool          // the runtime is; the child is to be
	sessions map[string]*session
	turns    map[string]*turn  // by job, those that are followed
	stopping bool              // the runtime is to stop
	begunBy  map[string]string // by context, as it was told to: the job that had begun; empty for one without a turn by then
}

// A child is one process of the agent.
type child struct {
	died   chan struct{}
	killed bool
}

func newDriver(w *world, life int, strikes func(n int64)) *driver {
	return &driver{world: w, life: life, strikes: strikes, sessions: map[string]*session{}, turns: map[string]*turn{}}
}

// Serve implements [executor.Driver], as do the methods below.
func (d *driver) Serve(ctx context.Context, host executor.Host) { d.root, d.host = ctx, host }

// Ready waits for a start of the agent. One that fails fails all who wait for it.
func (d *driver) Ready(ctx context.Context) error {
	_, err := d.ready(ctx)
	return err
}

var errStart = errors.New("the agent does not start")

func (d *driver) ready(ctx context.Context) (*child, error) {
	d.mu.Lock()
	if on := d.child; on != nil {
		d.mu.Unlock()
		return on, nil
	}
	if d.dead {
		d.mu.Unlock()
		return nil, executor.ErrShutdown
	}
	over := d.starting
	if over == nil {
		over = make(chan struct{})
		d.starting = over
		d.starts++
		name := []any{"start", d.life, d.starts}
		d.wg.Go(func() { d.start(name, over) })
	}
	d.mu.Unlock()
	select {
	case <-over:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.child != nil:
		return d.child, nil
	case d.dead:
		return nil, executor.ErrShutdown
	}
	return nil, &executor.Trouble{
		Kind: executor.Unstarted, Failing: time.Since(d.failing), Err: errStart,
		End: agent.Ended{Outcome: agent.Failed, Failure: &agent.Failure{Kind: agent.FailUnreachable, Message: "the agent does not start"}},
	}
}

// start makes one start.
func (d *driver) start(name []any, over chan struct{}) {
	defer close(over)
	sleep(d.root, d.of(name...).between(10*time.Millisecond, 2*time.Second))
	fails := d.happens(d.weather.startFails, append(name, "fails")...)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.starting = nil
	switch {
	case d.dead || d.root.Err() != nil:
	case fails:
		if d.failing.IsZero() {
			d.failing = time.Now()
		}
		d.story.tell("", "the agent does not start")
	default:
		d.failing = time.Time{}
		d.child = &child{died: make(chan struct{})}
		d.story.tell("", "the agent is there")
	}
}

// kill ends the process of the agent; on is the one that is meant, nil for any.
func (d *driver) kill(on *child, killed bool, why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.child == nil || on != nil && d.child != on {
		return
	}
	d.story.tell("", "the agent dies: %s", why)
	d.child.killed = killed
	close(d.child.died)
	d.child = nil
}

// die is the end of the runtime, and with it of the agent.
func (d *driver) die() {
	d.mu.Lock()
	d.dead = true
	d.mu.Unlock()
	d.kill(nil, true, "the runtime does")
}

// stops notes which jobs have begun, and that no other is to. It is called while nothing moves.
func (d *driver) stops() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopping, d.begunBy = true, map[string]string{}
	for context, s := range d.sessions {
		if len(s.turn) > 0 { // a job is served, of which nothing may have been heard yet
			d.begunBy[context] = ""
		}
	}
	for job, t := range d.turns {
		d.begunBy[t.s.context] = job
	}
}

// check holds a turn against a stop of the runtime.
func (d *driver) check(context, job string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.stopping {
		return
	}
	if begun, served := d.begunBy[context]; !served || begun != "" && begun != job {
		d.wrong(job, "a turn of it begins, and it had not begun when the runtime was told to stop")
	}
	d.begunBy[context] = job
}

// lives reports whether the runtime does.
func (d *driver) lives() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.dead
}

// died is the trouble of a child that is gone.
func (d *driver) died(on *child, kind executor.TroubleKind) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &executor.Trouble{
		Kind: kind, Killed: on.killed, Err: errors.New("the agent has died"),
		End: agent.Ended{Outcome: agent.Failed, Failure: &agent.Failure{Kind: agent.FailUnreachable, Message: "the agent ended before it took the message"}},
	}
}

// Open returns the session of a context.
func (d *driver) Open(key string) executor.Session {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.sessions[key]
	if s == nil {
		s = &session{d: d, context: key, turn: make(chan struct{}, 1)}
		d.sessions[key] = s
	}
	return s
}

// Answer gives an answer to the turn of a job.
func (d *driver) Answer(job string, a agent.Answer) error {
	d.mu.Lock()
	t := d.turns[job]
	d.mu.Unlock()
	if t == nil {
		return executor.ErrNotAsked
	}
	return t.answer(a)
}

// Idle does nothing: no agent is to be restarted.
func (d *driver) Idle() {}

// Close ends the agent when nothing is served any more.
func (d *driver) Close(ctx context.Context, served <-chan struct{}) error {
	select {
	case <-served:
	case <-ctx.Done():
	}
	d.die()
	<-served
	d.wg.Wait()
	return nil
}

// Probe finds out what the model refuses.
func (d *driver) Probe(ctx context.Context) (*executor.Refusal, error) {
	if _, err := d.ready(ctx); err != nil {
		return nil, err
	}
	sleep(ctx, 50*time.Millisecond)
	return d.refusing(), ctx.Err()
}

// refusing is what the model refuses all turns for.
func (d *driver) refusing() *executor.Refusal {
	switch kind, until := d.refusal(); kind {
	case agent.FailLimit:
		return &executor.Refusal{Kind: kind, Code: "limit", Why: "the limit is reached", Limit: "5h", Until: until}
	case agent.FailAuth:
		return &executor.Refusal{Kind: kind, Code: "login", Why: "a login is needed"}
	}
	return nil
}

// AwaitLogin looks every few seconds.
func (d *driver) AwaitLogin(r *executor.Refusal, wake <-chan struct{}, show func(*executor.Pause)) (*executor.Refusal, bool) {
	show(&executor.Pause{Paused: agent.Paused{Kind: agent.FailAuth, Text: r.Why}})
	for {
		select {
		case <-wake:
		case <-time.After(7 * time.Second):
		case <-d.root.Done():
			return nil, false
		}
		switch now := d.refusing(); {
		case now == nil:
			return nil, true
		case now.Kind != agent.FailAuth:
			return now, true
		}
	}
}

// Watch never sees another credential: what is refused has an end.
func (d *driver) Watch() func() bool { return func() bool { return false } }

// Ping implements [executor.Shown].
func (d *driver) Ping(context.Context) error { return nil }

// Health implements [executor.Shown].
func (d *driver) Health() executor.AgentHealth { return executor.AgentHealth{} }

// Overview implements [executor.Shown].
func (d *driver) Overview() executor.Overview { return executor.Overview{} }

// sleep waits, and reports whether ctx has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
