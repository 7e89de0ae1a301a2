package executor

import (
	"context"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A remnant is a turn of a thread's history since which the model has answered nothing. It may be why the
// provider refuses what comes after it, and is taken out then, with that.
type remnant struct {
	thread, turn string
	before       briefing // what its conversation had been told of before it
	named        bool     // a turn since then has named another model, which codex asks for a summary before the next
	refused      bool     // and could not be taken out yet
}

// What is said of a message that failed, and in whose conversation something is refused.
const (
	leftOut = ". The model will not read this message with the next ones"
	leftAll = ", nor those before it that it has not answered"
	staysIn = ". What is refused stays in this conversation for now"
	ifAgain = ". If the next message fails so, too, end the commands that the conversation has left running, or begin a new one (/new, or another contextId)"
)

// remnantHere is that of the thread of c; nil if there is none. The caller holds c.lock.
func (c *conversation) remnantHere() *remnant {
	if r := c.remnant.Load(); r != nil && r.thread == c.threadID {
		return r
	}
	return nil
}

// unanswered notes a turn of a job that the model has not answered, and returns that since which it has
// not. The caller holds c.lock.
func (c *conversation) unanswered(j *job, turnID string, before briefing) remnant {
	r := remnant{thread: c.threadID, turn: turnID, before: before}
	if there := c.remnantHere(); there != nil {
		r = *there
	}
	r.named = r.named || c.otherModel(j) != ""
	c.remnant.Store(&r)
	return r
}

// clear takes a failed turn out of the history that would have the turns after it fail: the provider
// would refuse to read its message with each of them, or the model that it named would be asked for a
// summary before each turn of another. With it go those before it that may be why, as the model has
// not answered them. Where that cannot be, it is done before another turn. The caller holds c.lock.
func (e *Executor) clear(c *conversation, t *turn, end *Ended) {
	failed := end.Outcome == Failed && end.Failure != nil
	if t.reads || end.Outcome == Completed || end.Tools || len(end.Messages) > 0 || t.record.gap {
		c.remnant.Store(nil)
		if failed && t.unreadable {
			end.Failure.Message += staysIn + ifAgain
		}
		return
	}
	first := c.unanswered(t.job, t.id, t.before)
	switch {
	case !failed, !t.unreadable && !first.named && !first.refused:
		return
	case e.takeBackTo(c, t.on, first.turn, first.before):
		c.remnant.Store(nil)
		end.Failure.Message += leftOut
		if first.turn != t.id {
			end.Failure.Message += leftAll
		}
	default:
		first.refused = true
		c.remnant.Store(&first)
		end.Failure.Message += staysIn
	}
	end.Failure.Message += ifAgain
}

// clearLate does what [Executor.clear] could not. The caller holds c.lock, and the thread is loaded.
func (e *Executor) clearLate(ctx context.Context, c *conversation, on *child) {
	left := c.remnantHere()
	if left == nil || !left.refused {
		return
	}
	turns, err := e.listTurns(ctx, c, on, manyTurns)
	gone := err == nil && !slices.ContainsFunc(turns, func(t appserver.Turn) bool { return t.ID == left.turn })
	if gone || e.takeBackTo(c, on, left.turn, left.before) {
		c.remnant.Store(nil)
	}
}

// takeBack takes an attempt that had done nothing out of the thread's history: the
// model would read the message twice, and between the two that the user had
// interrupted it. It ends the thread's background commands, so where there are any
// the attempt stays. What the model was told in it, it is told again.
func (e *Executor) takeBack(c *conversation, t *turn) bool {
	return e.takeBackTo(c, t.on, t.id, t.before)
}

// takeBackTo is takeBack of a turn and those after it.
func (e *Executor) takeBackTo(c *conversation, on *child, turnID string, before briefing) bool {
	if on.gone() || e.runsCommands(c, on) {
		return false
	}
	e.untell(c, before) // before it: codex may take it out and die, and what is told twice does no harm
	if !e.takeOut(c, on, turnID) {
		return false
	}
	c.ran = before.ran
	return true
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
