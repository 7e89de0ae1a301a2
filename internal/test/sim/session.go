package sim

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A session is what the driver has of a context. It implements [executor.Session].
type session struct {
	d       *driver
	context string
	turn    chan struct{} // the turn lock: full while it is held
	on      *child        // that it was prepared on
	tries   int           // of Prepare
}

// Lock takes the turn lock. A goroutine that waits for a channel, and not for a mutex, lets the time pass.
func (s *session) Lock() { s.turn <- struct{}{} }

// Unlock implements [executor.Session], as do the methods below.
func (s *session) Unlock() { <-s.turn }

// Next is of no use here.
func (s *session) Next(bool) {}

// Close keeps the session: there are few.
func (s *session) Close() {}

// Recall has nothing to find out: the world knows the thread.
func (s *session) Recall(context.Context, bool, func()) error { return nil }

// Prepare waits for the agent.
func (s *session) Prepare(ctx context.Context, _ agent.Options) (executor.Thread, error) {
	on, err := s.d.ready(ctx)
	if err != nil {
		return executor.Thread{}, err
	}
	s.on = on
	s.tries++
	name := []any{"prepare", s.d.life, s.context, s.tries}
	if !s.wait(ctx, on, s.d.of(name...).between(time.Millisecond, time.Second)) {
		return executor.Thread{}, s.gone(ctx, on, executor.Passing)
	}
	if s.d.happens(s.d.weather.turnsAway, append(name, "away")...) {
		return executor.Thread{}, &executor.Trouble{
			Kind: executor.Passing, Wait: 500 * time.Millisecond, Err: errors.New("it has too much to do"),
			End: agent.Ended{Outcome: agent.Failed, Failure: &agent.Failure{Kind: agent.FailModel, Message: "the agent has too much to do"}},
		}
	}
	return executor.Thread{ID: s.d.thread(s.context).id, Model: "model"}, nil
}

// wait lets time pass, and reports whether the child is still there, and ctx goes on.
func (s *session) wait(ctx context.Context, on *child, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-on.died:
	case <-ctx.Done():
	}
	return false
}

// gone says why wait has ended before its time.
func (s *session) gone(ctx context.Context, on *child, kind executor.TroubleKind) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return s.d.died(on, kind)
}

// Start hands the message over: the agent may die before it has taken it, and after.
func (s *session) Start(of executor.Order) (executor.Turn, error) {
	on, name := s.on, of.ClientID()
	s.d.brings(of.Job, of.Input)
	s.d.check(s.context, of.Job)
	if s.d.happens(s.d.weather.cutBefore, "cut before", name) {
		s.d.kill(on, s.d.happens(s.d.weather.agentKilled, "killed before", name), "before it has taken "+name)
	}
	if !s.wait(context.Background(), on, s.d.of("start", name).between(time.Millisecond, 300*time.Millisecond)) {
		return nil, s.d.died(on, executor.WasCut)
	}
	r := s.d.begin(s.context, name)
	s.d.strikes(s.d.begun.Add(1))
	if s.d.happens(s.d.weather.cutAfter, "cut after", name) {
		s.d.kill(on, s.d.happens(s.d.weather.agentKilled, "killed after", name), "after it has taken "+name)
		return nil, s.d.died(on, executor.WasCut)
	}
	t := newTurn(s, on, of, r)
	s.d.wg.Go(t.work)
	return t, nil
}

// In does nothing: a context has one thread.
func (s *session) In(string) (back func()) { return func() {} }

// LookUp looks into the history.
func (s *session) LookUp(ctx context.Context, of executor.Attempt, seen executor.Turn) (executor.Finding, error) {
	on, err := s.d.ready(ctx)
	if err != nil {
		return executor.Finding{}, err
	}
	s.tries++
	if !s.wait(ctx, on, s.d.of("look", s.d.life, s.context, s.tries).between(time.Millisecond, 500*time.Millisecond)) {
		return executor.Finding{}, s.gone(ctx, on, executor.Passing)
	}
	if s.d.happens(s.d.weather.lookFails, "look fails", s.d.life, s.context, s.tries) {
		return executor.Finding{}, &executor.Trouble{Kind: executor.Lasting, Err: errors.New("the history cannot be read")}
	}
	own := s.d.find(s.context, func(client string) bool { return client == of.ClientID() })
	before := s.d.find(s.context, func(client string) bool { return jobOf(client) == of.Job && client != of.ClientID() })
	var f executor.Finding
	if t, ok := seen.(*turn); ok {
		f.SoFar = t.SoFar()
	}
	for _, r := range before {
		is := s.d.look(r)
		f.Repeated, f.Worked = true, f.Worked || is.worked
	}
	if len(own) == 0 {
		return f, nil
	}
	is := s.d.look(own[0])
	f.Tool, f.SoFar.Messages = is.worked, is.said
	if is.told && s.d.happens(s.d.weather.fileLacks, "file", of.ClientID()) { // then the runtime knows it
		f.Tool = false
	}
	f.Begun = executor.Begun{Thread: s.d.thread(s.context).id, Turn: is.id, Model: "model"}
	for _, client := range is.clients {
		f.With = append(f.With, jobOf(client))
	}
	switch {
	case is.status == turnFailed && is.refused && !is.worked:
		f.State = executor.Refused
	case is.status == turnCompleted, is.status == turnFailed:
		f.State = executor.Concluded
	default:
		f.State = executor.Broken
	}
	f.End = func(executor.Order, executor.Turn) *agent.Ended { return is.end() }
	return f, nil
}

// end is how the turn has ended.
func (r *turnRecord) end() *agent.Ended {
	end := &agent.Ended{Messages: r.said, Tools: r.worked}
	switch r.status {
	case turnCompleted:
		end.Outcome = agent.Completed
	case turnFailed:
		end.Outcome, end.Failure = agent.Failed, &agent.Failure{Kind: agent.FailModel, Message: r.failure}
	default:
		end.Outcome, end.Failure = agent.Interrupted, &agent.Failure{Kind: agent.FailModel, Message: "the agent ended the turn before it was finished"}
	}
	return end
}

// jobOf is the job that an attempt is of.
func jobOf(client string) string { return client[:strings.LastIndexByte(client, '.')] }
