package sim

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

const (
	idleFor = 2 * time.Minute // without a sign of life a turn is ended
	itemFor = 4 * time.Minute // and that while a tool runs
	turnFor = 9 * time.Minute // in all, without what it waits for answers
	grace   = 5 * time.Second // that the agent has to end it
	gap     = time.Second     // after which an end that was not told is looked for
	ttl     = 5 * time.Minute // of a question
)

// A turn is one that the agent works at (work.go), and that the scheduler follows. It implements [executor.Turn].
type turn struct {
	d  *driver
	s  *session
	on *child
	of executor.Order
	r  *turnRecord

	timers    *executor.Timers // of Follow
	notes     chan note
	woken     chan struct{} // 1-buffered: there is an answer, or a slot for one
	interrupt chan struct{}

	mu      sync.Mutex // guards the fields below; nothing waits while it is held
	offered []string   // attempts whose messages the agent has taken, and that do not stand in the history yet
	open    []*question
	asked   int
	given   []*question
	seen    agent.Ended // what was told
	tool    bool        // one runs
}

// A note is what the agent says of a turn.
type note struct {
	event   agent.Event
	ask     *question
	arrived string // an attempt
	idle    bool   // the agent does nothing more for the turn
	end     bool
}

// A question is one that the agent waits for.
type question struct {
	id    string
	note  string        // why it was not answered
	done  chan struct{} // closed when the agent has the answer
	leave func()        // its place among those of mute senders
}

func newTurn(s *session, on *child, of executor.Order, r *turnRecord) *turn {
	t := &turn{
		d: s.d, s: s, on: on, of: of, r: r,
		notes: make(chan note, 256), woken: make(chan struct{}, 1), interrupt: make(chan struct{}),
	}
	s.d.mu.Lock()
	s.d.turns[of.Job] = t
	s.d.mu.Unlock()
	return t
}

// Begun implements [executor.Turn], as do the methods below.
func (t *turn) Begun() executor.Begun {
	return executor.Begun{Thread: t.d.thread(t.s.context).id, Turn: t.r.id, Model: "model"}
}

// Follow hands on what the agent says, until it has said the end, or has died.
func (t *turn) Follow() (*executor.Result, error) {
	defer t.closeQuestions()
	var stopping error
	ended, died := t.of.Ctx.Done(), t.on.died
	late := make(chan error, 1)
	t.timers = t.of.To.Timers(func(by *executor.Timeout) { t.isLate(by, late) })
	defer t.timers.Stop()
	t.alive()
	var unseen, ignored <-chan time.Time
	stop := func(cause error) {
		if stopping == nil {
			t.d.story.tell(t.of.ClientID(), "it is to end: %v", cause)
			stopping, ended = cause, nil
			t.timers.Stop()
			t.of.To.Ending()
			close(t.interrupt)
			ignored = time.After(grace)
		}
	}
	for {
		select {
		case n := <-t.notes:
			if n.idle {
				unseen = time.After(gap)
			}
			if n.end {
				return t.settle(stopping), nil
			}
			t.hear(n, stopping)
			t.alive()
		case <-t.woken:
			t.handAnswers()
			t.alive()
		case <-ended:
			stop(context.Cause(t.of.Ctx))
		case by := <-late:
			stop(by)
		case <-unseen:
			return t.settle(stopping), nil
		case <-ignored:
			t.d.kill(t.on, false, "it does not end "+t.r.id)
		case <-died:
			if len(t.notes) > 0 { // all that it has said is read first
				continue
			}
			if stopping != nil {
				return &executor.Result{End: t.stopped(stopping)}, nil
			}
			t.withdraw()
			return nil, t.d.died(t.on, executor.WasCut)
		}
	}
}

// alive tells the timers of a sign of life, or that the agent waits for an answer.
func (t *turn) alive() {
	if t.asks() {
		t.timers.Rest()
		return
	}
	t.mu.Lock()
	tool := t.tool
	t.mu.Unlock()
	t.timers.Alive(tool)
}

// isLate is called when a timer of the turn has run out.
func (t *turn) isLate(by *executor.Timeout, late chan<- error) {
	if t.asks() {
		t.d.wrong(t.of.Job, "it is ended by a timer while it waits for an answer")
	}
	select {
	case late <- by:
	default: // one is enough
	}
}

// hear hands on what the agent has said.
func (t *turn) hear(n note, stopping error) {
	switch {
	case n.ask != nil:
		t.pose(n.ask, stopping != nil)
	case n.arrived != "":
		t.of.To.Arrived(t.r.id, n.arrived)
		if t.d.happens(20, "arrived again", n.arrived) {
			t.of.To.Arrived(t.r.id, n.arrived)
		}
	case n.event != nil:
		t.note(n.event)
		t.of.To.Tell(n.event)
		if item, ok := n.event.(agent.ItemStarted); ok && item.Item.Kind.IsTool() && t.d.lives() {
			t.d.change(t.r, func(r *turnRecord) { r.told = true })
		}
	}
}

// note keeps what was seen.
func (t *turn) note(event agent.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch event := event.(type) {
	case agent.ItemStarted:
		t.tool = event.Item.Kind.IsTool()
		t.seen.Tools = t.seen.Tools || t.tool
	case agent.ItemCompleted:
		t.tool = false
		if event.Item.Kind == agent.KindMessage {
			t.seen.Messages = append(t.seen.Messages, agent.Message{ItemID: event.Item.ID, Text: event.Item.Text})
		}
	}
}

// settle is how the turn has ended by its history.
func (t *turn) settle(stopping error) *executor.Result {
	is := t.d.look(t.r)
	result := &executor.Result{End: is.end()}
	switch {
	case is.status == turnCompleted: // also when it was to end
	case stopping != nil:
		result.End = t.stopped(stopping)
	case is.status == turnFailed && is.full:
		result.End.Failure.Kind, result.Full = agent.FailContext, true
	case is.status == turnFailed && is.refused:
		result.Refused = t.refusal()
		result.End.Failure = result.Refused.Failure(is.worked)
	}
	return result
}

// refusal is why the model has refused the turn.
func (t *turn) refusal() *executor.Refusal {
	if r := t.d.refusing(); r != nil {
		return r
	}
	r := &executor.Refusal{Kind: agent.FailLimit, Code: "limit", Why: "the limit is reached", Limit: "rate", Until: time.Now().Add(20 * time.Second)}
	if t.d.happens(t.d.weather.refusesAlone, "alone", t.of.ClientID()) {
		r.Model = "rare"
	}
	return r
}

// stopped is the end of a turn that was to end.
func (t *turn) stopped(cause error) *agent.Ended {
	end := executor.Stopped(t.SoFar(), cause)
	end.Tools = t.HasWorked()
	return &end
}

// Steer offers a message to the agent, which may not say whether it has taken it.
func (t *turn) Steer(ctx context.Context, as executor.Attempt, input []agent.Input) error {
	name := as.ClientID()
	t.d.brings(as.Job, input)
	if !t.s.wait(ctx, t.on, t.d.of("steer", name).between(time.Millisecond, 200*time.Millisecond)) {
		return t.s.gone(ctx, t.on, executor.WasCut)
	}
	taken := !t.d.happens(t.d.weather.takesNoSteer, "steer not taken", name)
	t.d.change(t.r, func(r *turnRecord) {
		if taken = taken && r.status == turnRuns; taken {
			t.mu.Lock()
			t.offered = append(t.offered, name)
			t.mu.Unlock()
		}
	})
	if !taken {
		return fmt.Errorf("%w: %s", executor.ErrNotTaken, t.r.id)
	}
	if t.d.happens(t.d.weather.takesNoSteer, "steer not said", name) {
		return context.DeadlineExceeded
	}
	return nil
}

// Keep keeps the turn as it is.
func (t *turn) Keep(*agent.Ended, bool) {}

// Void takes it out of the history.
func (t *turn) Void() {
	t.withdraw()
	t.d.takeOut(t.r)
}

// Shorten makes room, or does not.
func (t *turn) Shorten(end *agent.Ended) (*executor.Refusal, error) {
	t.withdraw()
	if !t.s.wait(t.of.Ctx, t.on, 2*time.Second) {
		return nil, t.s.gone(t.of.Ctx, t.on, executor.Passing)
	}
	switch d := t.d.of("shorten", t.of.ClientID()); {
	case t.d.refusing() != nil:
		return t.d.refusing(), nil
	case d.happens(25):
		return nil, errors.New("it cannot be made shorter")
	}
	if !end.Tools {
		t.d.takeOut(t.r)
	}
	return nil, nil
}

// Leave has nothing to end.
func (t *turn) Leave(*agent.Ended) {}

// SoFar is what was told.
func (t *turn) SoFar() agent.Ended {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seen
}

// HasWorked looks into the history.
func (t *turn) HasWorked() bool { return t.d.look(t.r).worked }
