package executor

import (
	"context"
	"errors"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// What becomes of the messages that were handed to a turn, once the job whose turn
// it was has an end:
//
//	the message                                    becomes
//	was not sent, or the agent has refused it      a turn of its own
//	stands in the history of the turn              part of the turn's end
//	was sent and is not there                      a turn of its own
//	was canceled                                   part of the turn's end
//	cannot be looked for                           interrupted
//
// A turn that is void, because it is run again, takes its messages along: they are
// sent to the new one.

// requeue gives a message to the queue that the turn of j has not taken. Beside
// those in the queue as many turns are ahead of it as are running.
func (e *Executor) requeue(j, s *job, running int) {
	e.mu.Lock()
	j.steers = slices.DeleteFunc(j.steers, func(other *job) bool { return other == s })
	ahead := running
	q := e.queues[j.Context]
	for _, waiting := range q.jobs {
		if waiting.seq < s.seq {
			ahead++
		}
	}
	e.mu.Unlock()
	s.observe(agent.Unsteered{Ahead: ahead})
	e.mu.Lock()
	s.into = nil
	if s.ctx.Err() != nil {
		e.mu.Unlock()
		e.finish(s, e.beforeStart(context.Cause(s.ctx)))
		return
	}
	e.enterLocked(s, stageQueued)
	q.insertLocked(s)
	e.mu.Unlock()
	s.pause.comeBack()
	e.tell(s)
}

// orphaned ends the messages that were canceled with j, which never had its turn.
func (e *Executor) orphaned(j *job) {
	for _, s := range e.steersOf(j) {
		e.finish(s, e.beforeStart(context.Cause(s.ctx)))
	}
}

// unsteer takes a canceled message back from the turn that it was handed to, if it
// waits to be sent; the caller has then been added to e.wg, as by unqueue. It
// also reports whether it was sent.
func (e *Executor) unsteer(s *job) (waits, sent bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.into == nil || s.stage != stageOffered || s.into.stage == stageClosing {
		return false, s.into != nil
	}
	s.into.steers = slices.DeleteFunc(slices.Clone(s.into.steers), func(other *job) bool { return other == s })
	e.wg.Add(1)
	return true, false
}

// closeToSteers has the job take no more messages into its turn.
func (e *Executor) closeToSteers(j *job) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if j.stage != stageClosing {
		e.enterLocked(j, stageClosing)
	}
}

// endSteers decides what becomes of the messages that were handed to the turns of
// j, whose end is known. Those that its last turn has taken are named in end and
// returned; the others have a turn of their own.
func (e *Executor) endSteers(c Session, j *job, end *agent.Ended) (inIt []*job) {
	e.closeToSteers(j)
	left := shuttingDown(end.Failure) && !end.Tools // for the next process, and so are they
	for _, s := range e.steersOf(j) {
		where, err := e.steerStatusOf(c, j, s)
		switch {
		case left, err != nil && errors.Is(context.Cause(s.ctx), ErrShutdown):
			e.finish(s, e.beforeStart(ErrShutdown))
		case err != nil:
			e.log.Warn("what became of a message to a running turn cannot be found out", "job", s.ID, "err", err)
			e.finish(s, *interrupted(agent.Ended{}, true, cutOffText))
		case where == inTurn:
			end.Taken = append(end.Taken, s.ID)
			inIt = append(inIt, s)
		default:
			e.requeue(j, s, 0)
		}
	}
	return inIt
}

// keepSteers looks at what an earlier process has handed to a turn of j that is
// void: it goes to the next one, too, unless it has had a turn since.
func (e *Executor) keepSteers(c Session, j *job) {
	for _, s := range e.steersOf(j) {
		if where, err := e.steerStatusOf(c, j, s); err != nil || where == elsewhere {
			e.requeue(j, s, 1)
		}
	}
}

// steersOf returns the messages that are with j.
func (e *Executor) steersOf(j *job) []*job {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(j.steers)
}

func shuttingDown(f *agent.Failure) bool { return f != nil && f.Kind == agent.FailShutdown }

// A steerStatus says where a message to a running turn is.
type steerStatus int

const (
	nowhere   steerStatus = iota // it has to have a turn of its own
	inTurn                       // part of the turn that it was sent to
	elsewhere                    // it has a turn of its own, and was cut off in it
)

// steerStatusOf finds out what became of a message that was handed to the turn of j. One
// that was canceled ends with the turn, wherever it is.
func (e *Executor) steerStatusOf(c Session, j, s *job) (steerStatus, error) {
	switch {
	case s.stage == stageOffered:
		return nowhere, nil
	case s.stage == stageTaken, errors.Is(context.Cause(s.ctx), ErrCanceled):
		return inTurn, nil
	}
	defer c.In(s.attempt.Thread)()
	found, err := e.find(c, s, nil)
	switch {
	case err != nil:
		return nowhere, err
	case found.State == Lost:
		return nowhere, errors.New("its thread is gone")
	case found.State == Absent:
		s.Cut = nil
		return nowhere, nil
	case !slices.Contains(found.With, j.ID):
		return elsewhere, nil
	}
	return inTurn, nil
}
