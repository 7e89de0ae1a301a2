package executor

import (
	"context"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A spot is where a turn stands: its thread, and its id.
type spot struct{ thread, turn string }

// clear takes a failed turn out of the history that has done nothing, and that would have the turns after
// it fail: the provider would refuse to read its message with each of them, or the model that it named
// would be asked for a summary before each turn of another. The caller holds c.lock.
func (e *Executor) clear(c *conversation, t *turn, end *Ended) {
	if end.Outcome != Failed || !t.unreadable && c.otherModel(t.job) == "" {
		return
	}
	first := t.id
	if void := t.job.void; void.thread == c.threadID { // its message is the same
		first = void.turn
	}
	idle := !end.Tools && len(end.Messages) == 0
	switch out := idle && (e.takeBackTo(c, t, first) || e.takeBackAnew(c, t, first)); {
	case out:
		end.Failure.Message += ". The model will not read this message with the next ones"
	case t.unreadable:
		end.Failure.Message += ". What is refused may stay in this conversation: if the next message fails so, too, begin a new one (/new, or another contextId)"
	}
}

// takeBack takes an attempt that had done nothing out of the thread's history: the
// model would read the message twice, and between the two that the user had
// interrupted it. It ends the thread's background commands, so where there are any
// the attempt stays. What the model was told in it, it is told again.
func (e *Executor) takeBack(c *conversation, t *turn) bool { return e.takeBackTo(c, t, t.id) }

// takeBackTo is takeBack of the attempts from that of a turn on.
func (e *Executor) takeBackTo(c *conversation, t *turn, turnID string) bool {
	if t.on.gone() || e.runsCommands(c, t.on) {
		return false
	}
	e.untell(c, t.before) // first: codex may take it out and die, and what is told twice does no harm
	if !e.takeOut(c, t.on, turnID) {
		return false
	}
	c.ran = t.before.ran
	return true
}

// takeBackAnew is takeBackTo where codex has died over it.
func (e *Executor) takeBackAnew(c *conversation, t *turn, turnID string) bool {
	if !t.on.gone() {
		return false
	}
	on, err := e.child.get(t.job.ctx)
	if err == nil {
		err = e.load(t.job.ctx, c, on)
	}
	if err != nil {
		return false
	}
	t.on = on
	turns, err := e.listTurns(t.job.ctx, c, on, fewTurns)
	out := err == nil && !slices.ContainsFunc(turns, func(one appserver.Turn) bool { return one.ID == turnID })
	return out || e.takeBackTo(c, t, turnID)
}

// runsCommands reports whether commands go on in the thread of c, as far as can be known. The caller
// holds c.lock.
func (e *Executor) runsCommands(c *conversation, on *child) bool {
	ctx, cancel := context.WithTimeout(context.Background(), e.cfg.Grace)
	defer cancel()
	terminals, err := on.BackgroundTerminals(ctx, c.threadID)
	err = on.settled(err)
	return err != nil || len(terminals) > 0
}

// takeOut takes a turn and those after it out of the history of the thread of c, and reports whether it
// did. The caller holds c.lock, and commands of the thread do not go on.
func (e *Executor) takeOut(c *conversation, on *child, turnID string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), e.cfg.Grace)
	defer cancel()
	thread, err := on.ThreadRevert(ctx, c.threadID, turnID)
	if err = on.settled(err); err != nil {
		e.log.Warn("a turn that is none stays in the history of its thread", "thread_id", c.threadID, "turn_id", turnID, "err", err)
		e.unloaded(c) // codex may have done it, and then the thread's file is another one: the next load tells
		return false
	}
	c.rollout = thread.Path
	return true
}
