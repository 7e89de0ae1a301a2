package executor_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A scripted agent does for each turn what its test says: the third driver, for the decisions of the scheduler. It
// implements [executor.Driver]. What no test says goes well, and takes no time.
type scripted struct {
	past *past
	host executor.Host
	root context.Context

	// Set before the agent is used.
	starts  func(n int) startEnd                          // how its n-th start ends, from 1; nil for well
	prepare func(context string, n int) error             // how the n-th preparation of a context fails; nil for none
	begin   func(*session, executor.Order) error          // how the start of a turn fails; nil for none
	look    func(context.Context, executor.Attempt) error // how a look at an attempt fails; nil for none
	probe   func()                                        // is called by each probe of the model; nil for nothing
	offers  map[string]offer                              // what becomes of a message to a running turn, by its job

	mu       sync.Mutex // guards the fields below
	child    *child     // nil while none runs
	started  int
	starting chan struct{} // closed at the end of the start that is made; nil if none is
	failed   *executor.Trouble
	failing  time.Time                            // of the first failed start in a row
	model    func(asked string) *executor.Refusal // what the model refuses that is asked; nil for nothing
	sessions map[string]*session
	plays    map[string][]play
	turns    map[string]*turn // that are followed, by their jobs
	probes   int
	seen     []executor.Order
}

// A child is one process of the agent.
type child struct {
	died   chan struct{}
	killed bool
}

// A startEnd is how a start of the agent ends.
type startEnd int

const (
	startWell startEnd = iota
	startFails
	startIsKilled
)

// An offer is what becomes of a message that is offered to a turn. The zero value is that the turn has it.
type offer struct {
	answer error // what the offer returns
	lost   bool  // it never stands in the history
	untold bool  // it does, and the turn does not say so
}

func newScripted(of *past) *scripted {
	return &scripted{past: of, sessions: map[string]*session{}, plays: map[string][]play{}, turns: map[string]*turn{}, offers: map[string]offer{}}
}

// script says what the agent does for the attempts at a job, one by one; the last of them is for all that follow.
func (a *scripted) script(job string, plays ...play) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.plays[job] = plays
}

// next is what the agent does for an attempt that begins.
func (a *scripted) next(of executor.Order) play {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = append(a.seen, of)
	plays := a.plays[of.Job]
	if len(plays) == 0 {
		return nil
	}
	if len(plays) > 1 {
		a.plays[of.Job] = plays[1:]
	}
	return plays[0]
}

// asked counts the attempts at a job that have reached the agent.
func (a *scripted) asked(job string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, of := range a.seen {
		if of.Job == job {
			n++
		}
	}
	return n
}

// order are the jobs of the attempts that have reached the agent.
func (a *scripted) order() (all []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, of := range a.seen {
		all = append(all, of.Job)
	}
	return all
}

// probed counts the probes of the model.
func (a *scripted) probed() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.probes
}

// die ends the process of the agent, by itself or by a kill.
func (a *scripted) die(killed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.child != nil {
		a.child.killed = killed
		close(a.child.died)
		a.child = nil
	}
}

// Serve implements [executor.Driver], as do the methods below.
func (a *scripted) Serve(ctx context.Context, host executor.Host) { a.root, a.host = ctx, host }

func (a *scripted) Ready(ctx context.Context) error {
	_, err := a.ready(ctx)
	return err
}

func (a *scripted) ready(ctx context.Context) (*child, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	a.mu.Lock()
	if on := a.child; on != nil {
		a.mu.Unlock()
		return on, nil
	}
	if a.starting == nil {
		a.started++
		a.starting = make(chan struct{})
		go a.start(a.started, a.starting)
	}
	over := a.starting
	a.mu.Unlock()
	select {
	case <-over:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.child == nil {
		return nil, a.failed
	}
	return a.child, nil
}

// start makes one start. One that fails takes a second.
func (a *scripted) start(n int, over chan struct{}) {
	defer close(over)
	end := startWell
	if a.starts != nil {
		end = a.starts(n)
	}
	if end != startWell {
		select {
		case <-time.After(time.Second):
		case <-a.root.Done():
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.starting = nil
	if end == startWell {
		a.child, a.failing = &child{died: make(chan struct{})}, time.Time{}
		return
	}
	if a.failing.IsZero() {
		a.failing = time.Now()
	}
	a.failed = trouble(executor.Unstarted, "the agent does not start")
	a.failed.Killed, a.failed.Failing = end == startIsKilled, time.Since(a.failing)
}

// trouble is that the agent fails.
func trouble(kind executor.TroubleKind, words string) *executor.Trouble {
	failure := &agent.Failure{Kind: agent.FailUnreachable, Message: words}
	return &executor.Trouble{Kind: kind, Err: errors.New(words), End: agent.Ended{Outcome: agent.Failed, Failure: failure}}
}

// vanishes has the agent end over each message, before that has become a turn.
func vanishes(killed bool) func(*session, executor.Order) error {
	return func(s *session, _ executor.Order) error {
		s.a.die(killed)
		return s.a.ended(s.on, executor.WasCut)
	}
}

// ended is the trouble of a child that is gone.
func (a *scripted) ended(on *child, kind executor.TroubleKind) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	gone := trouble(kind, "the agent has died")
	gone.Killed = on.killed
	return gone
}

func (a *scripted) Open(context string) executor.Session {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.sessions[context]
	if s == nil {
		s = &session{a: a, context: context, lock: make(chan struct{}, 1)}
		a.sessions[context] = s
	}
	return s
}

func (a *scripted) Answer(job string, answer agent.Answer) error {
	a.mu.Lock()
	t := a.turns[job]
	a.mu.Unlock()
	if t == nil {
		return executor.ErrNotAsked
	}
	return t.answer(answer)
}

func (a *scripted) Idle() {}

func (a *scripted) Close(ctx context.Context, served <-chan struct{}) error {
	var err error
	select {
	case <-served:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	a.die(false)
	<-served
	return err
}

// refuses has the model of all, which probes ask, and each other one refuse from now on; nil for nothing.
func (a *scripted) refuses(r *executor.Refusal) {
	a.setModel(func(string) *executor.Refusal { return r })
}

// refusesRare has a model refuse that jobs name.
func (a *scripted) refusesRare(r *executor.Refusal) {
	a.setModel(func(asked string) *executor.Refusal {
		if asked == "" {
			return nil
		}
		return r
	})
}

func (a *scripted) setModel(model func(asked string) *executor.Refusal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.model = model
}

// refusal is why a model refuses that a job names, or the one of all.
func (a *scripted) refusal(asked string) *executor.Refusal {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.model == nil {
		return nil
	}
	return a.model(asked)
}

func (a *scripted) Probe(ctx context.Context) (*executor.Refusal, error) {
	a.mu.Lock()
	a.probes++
	a.mu.Unlock()
	if a.probe != nil {
		a.probe()
	}
	return a.refusal(""), context.Cause(ctx)
}

// AwaitLogin looks each second.
func (a *scripted) AwaitLogin(r *executor.Refusal, wake <-chan struct{}, show func(*executor.Pause)) (*executor.Refusal, bool) {
	show(&executor.Pause{Paused: agent.Paused{Kind: agent.FailAuth, Text: r.Why}})
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case <-wake:
		case <-look.C:
		case <-a.root.Done():
			return nil, false
		}
		if now := a.refusal(""); now == nil || now.Kind != agent.FailAuth {
			return now, true
		}
	}
}

func (a *scripted) Watch() func() bool { return func() bool { return false } }

func (a *scripted) Ping(context.Context) error { return nil }

func (a *scripted) Health() executor.AgentHealth {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := executor.AgentHealth{}
	for _, t := range a.turns {
		if t.asks() {
			h.Questions++
		}
	}
	return h
}

func (a *scripted) Overview() executor.Overview { return executor.Overview{} }
