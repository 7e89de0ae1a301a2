package executor_test

import (
	"context"
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
	starts  func(n int) startEnd                             // how its n-th start ends, from 1; nil for well
	prepare func(context string, n int) error                // how the n-th preparation of a context fails; nil for none
	begin   func(*session, executor.Order) error             // how the start of a turn fails; nil for none
	look    func(context.Context, executor.Attempt) error    // how a look at an attempt fails; nil for none
	shorten func(context.Context) (*executor.Refusal, error) // how a thread is shortened; nil for no test of that
	probe   func()                                           // is called by each probe of the model; nil for nothing
	offers  map[string]offer                                 // what becomes of a message to a running turn, by its job

	mu        sync.Mutex // guards the fields below
	child     *child     // nil while none runs
	started   int
	starting  *startup                             // nil if none is made
	failing   time.Time                            // of the first failed start in a row
	model     func(asked string) *executor.Refusal // what the model refuses that is asked; nil for nothing
	sessions  map[string]*session
	plays     map[string][]play
	turns     map[string]*turn // that are followed, by their jobs
	probes    int
	shortened int
	seen      []executor.Order
}

// An offer is what becomes of a message that is offered to a turn. The zero value is that the turn has it.
type offer struct {
	answer error // what the offer returns
	lost   bool  // it never stands in the history
	untold bool  // it does, and the turn does not say so
	passed bool  // it arrives, and the turn completes without reading it
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

// Serve implements [executor.Driver], as do the methods below.
func (a *scripted) Serve(ctx context.Context, host executor.Host) { a.root, a.host = ctx, host }

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
