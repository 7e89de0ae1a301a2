package executor

import (
	"context"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// A spot is where a turn stands: its thread, and its id.
type spot struct{ thread, turn string }

// A remnant is a turn that is to be taken out of the history, with those after it, and what its
// conversation had been told before it.
type remnant struct {
	at     spot
	before briefing
}

// What is said of a message that failed, and in whose conversation something is refused.
const (
	leftOut = ". The model will not read this message with the next ones"
	staysIn = ". What is refused stays in this conversation for now: if the next message fails so, too, " +
		"end the commands that the conversation has left running, or begin a new one (/new, or another contextId)"
)

// clear takes a failed turn out of the history that has done nothing, and that would have the turns after
// it fail: the provider would refuse to read its message with each of them, or the model that it named
// would be asked for a summary before each turn of another. Where that cannot be, it is done before
// another turn, if none has done anything meanwhile. The caller holds c.lock.
func (e *Executor) clear(c *conversation, t *turn, end *Ended) {
	if end.Outcome != Failed {
		return
	}
	read := t.reads && t.refused == nil
	idle, refused := !read && !end.Tools && len(end.Messages) == 0, t.unreadable || !read && c.otherModel(t.job) != ""
	first := remnant{spot{c.threadID, t.id}, t.before}
	switch void := t.job.void; {
	case t.behind.at.thread == c.threadID:
		first, refused = t.behind, true
	case void.thread == c.threadID: // its message is the same
		first.at = void
	}
	switch {
	case !refused:
	case idle && e.takeBackTo(c, t.on, first):
		end.Failure.Message += leftOut
	default:
		end.Failure.Message += staysIn
		if idle {
			c.remnant = first
		}
	}
}

// clearLate does what [Executor.clear] could not, and returns what is still there. The caller holds c.lock,
// and the thread is loaded.
func (e *Executor) clearLate(ctx context.Context, c *conversation, on *child) remnant {
	left := c.remnant
	c.remnant = remnant{}
	if left.at.thread != c.threadID || left.at.turn == "" {
		return remnant{}
	}
	turns, err := e.listTurns(ctx, c, on, manyTurns)
	gone := err == nil && !slices.ContainsFunc(turns, func(t appserver.Turn) bool { return t.ID == left.at.turn })
	if gone || e.takeBackTo(c, on, left) {
		return remnant{}
	}
	return left
}

// takeBack takes an attempt that had done nothing out of the thread's history: the
// model would read the message twice, and between the two that the user had
// interrupted it. It ends the thread's background commands, so where there are any
// the attempt stays. What the model was told in it, it is told again.
func (e *Executor) takeBack(c *conversation, t *turn) bool {
	return e.takeBackTo(c, t.on, remnant{spot{c.threadID, t.id}, t.before})
}

// takeBackTo is takeBack of a turn and those after it.
func (e *Executor) takeBackTo(c *conversation, on *child, first remnant) bool {
	if on.gone() || e.runsCommands(c, on) {
		return false
	}
	e.untell(c, first.before) // before it: codex may take it out and die, and what is told twice does no harm
	if !e.takeOut(c, on, first.at.turn) {
		return false
	}
	c.ran = first.before.ran
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
