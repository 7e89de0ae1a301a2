package executor_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A turn is one that the scripted agent carries out. It implements [executor.Turn].
type turn struct {
	a        *scripted
	on       *child
	of       executor.Order
	does     play
	r        *record
	arriving chan executor.Attempt // messages that it has, and has not told of
	arrived  chan struct{}         // 1-buffered: one has been told of
	timers   *executor.Timers
	late     chan error // 1-buffered: one of them has run out
	runs     bool       // a tool

	mu     sync.Mutex // guards the fields below
	heard  []string   // the messages
	over   bool       // it takes no more of them
	passed []string   // arrived, and will not be read
	asked  int
	open   *question // nil if it asks nothing
	shown  agent.Ended
}

// A question is one that a turn waits with.
type question struct {
	id       string
	answered chan struct{} // closed
	text     string        // of the answer
}

func newTurn(s *session, of executor.Order, does play) *turn {
	t := &turn{
		a: s.a, on: s.on, of: of, does: does, arriving: make(chan executor.Attempt, 64), arrived: make(chan struct{}, 1), late: make(chan error, 1),
		r: &record{clients: []string{of.ClientID()}, jobs: []string{of.Job}, state: executor.Broken}, heard: words(of.Input),
	}
	s.a.past.change(func() {
		t.r.id = s.a.past.turnIDLocked()
		s.a.past.all = append(s.a.past.all, t.r)
	})
	s.a.mu.Lock()
	defer s.a.mu.Unlock()
	s.a.turns[of.Job] = t
	return t
}

func words(input []agent.Input) (all []string) {
	for _, in := range input {
		if in.Type == agent.InputText {
			all = append(all, in.Text)
		}
	}
	return all
}

// Begun implements [executor.Turn], as do the methods below.
func (t *turn) Begun() executor.Begun {
	return executor.Begun{Thread: threadOf(t.of.Conversation), Turn: t.r.id, Model: "model"}
}

// Follow takes one step after the other, and then answers what the turn has heard.
func (t *turn) Follow() (*executor.Result, error) {
	defer t.leave()
	t.timers = t.of.To.Timers(func(by *executor.Timeout) {
		select {
		case t.late <- by:
		default: // one is enough
		}
	})
	defer t.timers.Stop()
	t.alive(false)
	for _, step := range append(slices.Clip(t.does), answers) {
		if how := step(t); how != nil {
			return how.result, how.err
		}
	}
	panic("a turn has no end")
}

// alive is a sign of life, with or without a tool that runs.
func (t *turn) alive(tool bool) {
	t.runs = tool
	t.timers.Alive(tool)
}

func (t *turn) leave() {
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	if t.a.turns[t.of.Job] == t {
		delete(t.a.turns, t.of.Job)
	}
}

// until waits for what a step needs. It returns how the turn ends, if that comes first, or at the same time: of
// several cases that are ready a select takes any.
func (t *turn) until(what <-chan struct{}) *ending {
	for is := false; ; {
		if how := t.cut(); how != nil || is {
			return how
		}
		select {
		case <-what:
			is = true
		case as := <-t.arriving:
			t.arrive(as)
		case by := <-t.late:
			return t.stopped(by)
		case <-t.of.Ctx.Done():
		case <-t.on.died:
		}
	}
}

// cut is how the turn ends that is to end, or whose agent has; nil for one that goes on.
func (t *turn) cut() *ending {
	if err := context.Cause(t.of.Ctx); err != nil {
		return t.stopped(err)
	}
	select {
	case <-t.on.died:
		return &ending{err: t.a.ended(t.on, executor.WasCut)}
	default:
		return nil
	}
}

func (t *turn) arrive(as executor.Attempt) {
	t.of.To.Arrived(t.r.id, as.ClientID())
	select {
	case t.arrived <- struct{}{}:
	default:
	}
}

// stopped is the end of a turn that is to be ended.
func (t *turn) stopped(cause error) *ending {
	t.timers.Stop()
	t.of.To.Ending()
	end := executor.Stopped(t.SoFar(), cause)
	end.Tools = t.HasWorked()
	return &ending{result: &executor.Result{End: &end}}
}

// ends writes down how the turn ends, after all that it has taken.
func (t *turn) ends(end agent.Ended) *ending {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	for len(t.arriving) > 0 {
		t.arrive(<-t.arriving)
	}
	if end.Outcome == agent.Completed {
		for _, id := range t.passed {
			t.of.To.PassedOver(id)
		}
	}
	end.Messages, end.Tools = t.SoFar().Messages, t.HasWorked()
	t.a.past.change(func() { t.r.state, t.r.end = executor.Concluded, &end })
	return &ending{result: &executor.Result{End: &end}}
}

// says has the turn say a whole message.
func (t *turn) says(text string) {
	t.mu.Lock()
	id := fmt.Sprint("message-", len(t.shown.Messages))
	t.shown.Messages = append(t.shown.Messages, agent.Message{ItemID: id, Text: text})
	t.mu.Unlock()
	t.of.To.Tell(agent.TextDelta{ItemID: id, Text: text})
	t.alive(t.runs)
	t.of.To.Tell(agent.ItemCompleted{Item: agent.Item{Kind: agent.KindMessage, ID: id, Text: text}})
}

// Steer does as the offer of the message says.
func (t *turn) Steer(ctx context.Context, as executor.Attempt, input []agent.Input) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.a.offers[as.Job]
	switch {
	case t.over:
		return executor.ErrNotTaken
	case of.lost || of.answer == executor.ErrNotTaken: //nolint:errorlint // a test sets it as it is
		return of.answer
	}
	if of.passed {
		t.passed = append(t.passed, as.ClientID())
		t.arriving <- as
		return of.answer
	}
	t.heard = append(t.heard, words(input)...)
	t.a.past.change(func() { t.r.clients, t.r.jobs = append(t.r.clients, as.ClientID()), append(t.r.jobs, as.Job) })
	if !of.untold {
		t.arriving <- as
	}
	return of.answer
}

// answer gives an answer from outside.
func (t *turn) answer(a agent.Answer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open == nil || t.open.id != a.Question {
		return executor.ErrNotAsked
	}
	t.open.text = a.Text
	close(t.open.answered)
	t.open = nil
	return nil
}

func (t *turn) asks() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.open != nil
}

func (t *turn) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.heard, "\n")
}

func (t *turn) Keep(*agent.Ended, bool) {}

func (t *turn) Void() { t.a.past.takeOut(t.r) }

func (t *turn) Shorten(end *agent.Ended) (*executor.Refusal, error) {
	t.a.mu.Lock()
	t.a.shortened++
	t.a.mu.Unlock()
	refused, err := t.a.shorten(t.of.Ctx)
	if refused == nil && err == nil && !end.Tools {
		t.Void()
	}
	return refused, err
}

func (t *turn) Leave(*agent.Ended) {}

func (t *turn) SoFar() agent.Ended {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown
}

func (t *turn) HasWorked() (worked bool) {
	t.a.past.change(func() { worked = t.r.tool })
	return worked
}
