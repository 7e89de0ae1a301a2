package executor_test

import (
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A play is what the scripted agent does for a turn, before it answers; an empty one is that alone.
type play []step

// A step is one thing that happens in a turn. It returns how the turn ends, or nil if that goes on.
type step func(t *turn) *ending

// An ending is what [executor.Turn.Follow] returns.
type ending struct {
	result *executor.Result
	err    error
}

// answers ends the turn with all that it has heard, unless the model refuses.
func answers(t *turn) *ending {
	at := make(chan struct{})
	close(at)
	if how := t.until(at); how != nil {
		return how
	}
	if r := t.a.refusal(t.of.Options.Model); r != nil {
		return t.refused(r)
	}
	t.says(t.text())
	return t.ends(agent.Ended{Outcome: agent.Completed})
}

// hangs goes on until the turn is ended from outside.
func hangs(t *turn) *ending { return t.until(nil) }

// lasts lets time pass.
func lasts(d time.Duration) step {
	return func(t *turn) *ending {
		over := make(chan struct{})
		defer time.AfterFunc(d, func() { close(over) }).Stop()
		return t.until(over)
	}
}

// waits goes on when the test says so.
func waits(until <-chan struct{}) step { return func(t *turn) *ending { return t.until(until) } }

// hears waits for a further message.
func hears(t *turn) *ending { return t.until(t.arrived) }

// speaks has the turn say something.
func speaks(t *turn) *ending {
	t.says("well")
	return nil
}

// works has a tool start.
func works(t *turn) *ending {
	t.a.past.change(func() { t.r.tool = true })
	t.mu.Lock()
	t.shown.Tools = true
	t.mu.Unlock()
	t.of.To.Tell(agent.ItemStarted{Item: agent.Item{Kind: agent.KindCommand, ID: "tool", Command: "make"}})
	t.alive(true)
	return nil
}

// worked has the tool end.
func worked(t *turn) *ending {
	t.of.To.Tell(agent.ItemCompleted{Item: agent.Item{Kind: agent.KindCommand, ID: "tool", Command: "make"}})
	t.alive(false)
	return nil
}

// worksUnseen has one start that the agent does not tell of.
func worksUnseen(t *turn) *ending {
	t.a.past.change(func() { t.r.tool = true })
	return nil
}

// dies is the end of the agent in the middle of the turn.
func dies(t *turn) *ending { return t.dies(false) }

func (t *turn) dies(killed bool) *ending {
	t.a.die(killed)
	return t.until(nil)
}

// diesEarly is its end before the turn stands in the history.
func diesEarly(killed bool) step {
	return func(t *turn) *ending {
		t.a.past.takeOut(t.r)
		return t.dies(killed)
	}
}

// diesDone is its end when the turn has ended, before that is told.
func diesDone(t *turn) *ending {
	t.says(t.text())
	t.ends(agent.Ended{Outcome: agent.Completed})
	return t.dies(false)
}

// refused has the model refuse the turn.
func refused(r *executor.Refusal) step { return func(t *turn) *ending { return t.refused(r) } }

func (t *turn) refused(of *executor.Refusal) *ending {
	r := *of
	r.Model = t.of.Options.Model
	how := t.ends(agent.Ended{Outcome: agent.Failed, Failure: r.Failure(t.HasWorked())})
	how.result.Refused = &r
	return how
}

// fills ends the turn because its message, or what came of it, has no room in the thread.
func fills(t *turn) *ending {
	how := t.ends(agent.Ended{Outcome: agent.Failed, Failure: &agent.Failure{Kind: agent.FailContext, Message: "the context is full"}})
	how.result.Full = true
	return how
}

// asks waits for an answer, and says it.
func asks(t *turn) *ending {
	leave, ok := t.a.host.AdmitMute(t.of.Job, t)
	if !ok {
		t.of.To.Tell(agent.Notice{Text: t.a.host.MuteNotice(1)})
		t.says("declined")
		return nil
	}
	defer leave()
	t.mu.Lock()
	t.asked++
	q := &question{id: fmt.Sprintf("%s-%d", t.of.ClientID(), t.asked), answered: make(chan struct{})}
	t.open = q
	t.mu.Unlock()
	t.of.To.Tell(agent.Question{ID: q.id, Kind: "command", Text: "may I?"})
	t.of.To.Park()
	t.timers.Rest()
	how := t.until(q.answered)
	if how == nil {
		how = t.regain()
	}
	t.mu.Lock()
	t.open = nil
	t.mu.Unlock()
	if how != nil {
		return how
	}
	t.of.To.Tell(agent.Answered{ID: q.id})
	t.says(q.text)
	return nil
}

// regain waits for the leave to go on with an answer.
func (t *turn) regain() *ending {
	granted := make(chan struct{}, 1)
	if t.of.To.Resume(func() { granted <- struct{}{} }) {
		return nil
	}
	return t.until(granted)
}
