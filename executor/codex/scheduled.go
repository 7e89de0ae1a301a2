package codex

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
)

// Begun implements [executor.Turn], as do the methods below.
func (t *turn) Begun() executor.Begun {
	b := t.c.begun(t.id)
	if at := t.c.place; at != nil && t.Options.Cwd != "" {
		b.Cwd = at.Within(t.Options.Cwd)
	}
	if t.afresh != "" {
		b.Fresh, b.Notices = true, append([]string{t.afresh.ToSender()}, b.Notices...)
	}
	return b
}

// Follow reads the turn. What it has met where codex had begun it for other words is not the message's.
func (t *turn) Follow() (*executor.Result, error) {
	end, err := t.read()
	if end == nil {
		return nil, t.d.trouble(err)
	}
	r := &executor.Result{End: end}
	if end.Outcome == agent.Failed && end.Failure != nil && !t.foreign {
		r.Refused, r.Full = t.refused, end.Failure.Kind == agent.FailContext
	}
	return r, nil
}

// Keep keeps the turn, or what is left of it where it was too long.
func (t *turn) Keep(end *agent.Ended, tooLong bool) {
	if tooLong {
		t.keepLong(end)
		return
	}
	t.keep(end)
}

// Void takes the turn out of the history.
func (t *turn) Void() {
	t.withdraw(overWithout)
	t.d.takeBack(t.c, t)
}

// Leave ends subagents: those of a turn that failed, and those of other agents, which have any number of
// conversations.
func (t *turn) Leave(end *agent.Ended) {
	switch {
	case end.Outcome == agent.Failed:
		t.d.ender.EndAgents(t.on, t.id, t.c.threadID)
	case t.Peer:
		t.d.ender.EndAgentsGently(t.on, t.id, t.c.threadID)
	}
}

// SoFar is the record of the turn.
func (t *turn) SoFar() agent.Ended {
	end := t.summary()
	end.Tools = t.record.Tools()
	return end
}

// Steer implements [executor.Turn]. After an error that is none of codex's the thread's history says what
// became of the message.
func (t *turn) Steer(ctx context.Context, as executor.Attempt, input []agent.Input) error {
	input, err := bring(ctx, t.at, input)
	if err != nil {
		return fmt.Errorf("%w: %w", executor.ErrNotTaken, err)
	}
	ctx, cancel := context.WithTimeout(ctx, min(steerTimeout, t.d.cfg.Patience))
	defer cancel()
	err = t.on.TurnSteer(ctx, appserver.TurnSteerParams{
		ThreadID: t.c.threadID, ExpectedTurnID: t.id, Input: items.Inputs(input), ClientUserMessageID: as.ClientID(),
	})
	if _, refused := errors.AsType[*appserver.RPCError](err); refused {
		return fmt.Errorf("%w: %w", executor.ErrNotTaken, err)
	}
	return err
}

// What codex does with a turn/steer (seen on 0.169.0): it answers at once and
// keeps the input in memory. The model gets it when the tool that runs has ended,
// or at once if none does: the text that streams is abandoned then, and only then
// the message stands in the thread's history, with its client id, and is told as a
// userMessage item. A turn that completes has taken all that was acknowledged, in
// its last millisecond too (114 of 114 times). One that is interrupted, fails or
// dies with the child before that has not, and nothing is left of the message.
//
// 0.166.0 and those before it are otherwise in the last millisecond (one of 30 times): the message
// stands in the turn, which completes without asking the model again. Then nothing of the model's is
// behind it in the thread's file, where there are words, a call or tokens otherwise.

// steerTimeout is how long codex may take to answer a turn/steer, which it does
// within milliseconds. Behind it the message is neither taken for arrived nor sent
// again: the thread's history says what became of it.
const steerTimeout = 5 * time.Second
