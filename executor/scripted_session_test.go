package executor_test

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A session is what the scripted agent has of a context. It implements [executor.Session].
type session struct {
	a       *scripted
	context string
	lock    chan struct{} // the turn lock: full while it is held. A mutex would not let simulated time pass
	on      *child        // that it was prepared on
	tries   int           // of Prepare
}

func (s *session) Lock() { s.lock <- struct{}{} }

func (s *session) Unlock() { <-s.lock }

func (s *session) Next(bool) {}

func (s *session) Close() {}

func (s *session) Recall(context.Context, bool, func()) error { return nil }

func (s *session) Prepare(ctx context.Context, _ agent.Options) (executor.Thread, error) {
	on, err := s.a.ready(ctx)
	if s.tries++; err == nil && s.a.prepare != nil {
		err = s.a.prepare(s.context, s.tries)
	}
	s.on = on
	return executor.Thread{ID: threadOf(s.context), Model: "model"}, err
}

func (s *session) Start(of executor.Order) (executor.Turn, error) {
	does := s.a.next(of)
	if s.a.begin != nil {
		if err := s.a.begin(s, of); err != nil {
			return nil, err
		}
	}
	return newTurn(s, of, does), nil
}

func (s *session) In(string) (back func()) { return func() {} }

// LookUp looks into what is past.
func (s *session) LookUp(ctx context.Context, of executor.Attempt, seen executor.Turn) (executor.Finding, error) {
	_, err := s.a.ready(ctx)
	if err == nil && s.a.look != nil {
		err = s.a.look(ctx, of)
	}
	if err != nil {
		return executor.Finding{}, err
	}
	found := s.a.past.find(of)
	if t, ok := seen.(*turn); ok {
		found.SoFar = t.SoFar()
	}
	return found, nil
}

func threadOf(context string) string { return "thread of " + context }

// A past is what there was of turns, over all processes.
type past struct {
	mu   sync.Mutex // guards the fields below, and the records
	all  []*record
	made int  // turns
	lost bool // the threads are gone
}

// A record is a turn in the past.
type record struct {
	id      string
	clients []string // the attempts whose messages stand in it, its own first
	jobs    []string // theirs
	state   executor.FindingState
	tool    bool // one has started
	end     *agent.Ended
}

func (p *past) change(by func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	by()
}

// leave has a process that is gone leave a turn behind, with what was handed to it; of each message it was the first
// attempt.
func (p *past) leave(r record, jobs ...string) {
	r.jobs = jobs
	for _, job := range jobs {
		r.clients = append(r.clients, executor.Attempt{Job: job, N: 1}.ClientID())
	}
	p.change(func() {
		r.id = p.turnIDLocked()
		p.all = append(p.all, &r)
	})
}

// find is what can be seen of an attempt.
func (p *past) find(of executor.Attempt) (f executor.Finding) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost {
		f.State = executor.Lost
		return f
	}
	for _, r := range p.all {
		switch {
		case slices.Contains(r.clients, of.ClientID()):
			f.State, f.Tool, f.With = r.state, r.tool, slices.Clone(r.jobs)
			f.Begun = executor.Begun{Thread: threadOf(of.Conversation), Turn: r.id}
			f.End = func(executor.Order, executor.Turn) *agent.Ended {
				end := *r.end
				return &end
			}
		case slices.Contains(r.jobs, of.Job):
			f.Repeated, f.Worked = true, f.Worked || r.tool
		}
	}
	return f
}

// takeOut has a turn be none.
func (p *past) takeOut(r *record) {
	p.change(func() { p.all = slices.DeleteFunc(p.all, func(other *record) bool { return other == r }) })
}

// turnIDLocked names a turn.
func (p *past) turnIDLocked() string {
	p.made++
	return fmt.Sprint("turn-", p.made)
}
