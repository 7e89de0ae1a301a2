package executor

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
)

// What becomes of a message whose attempt was cut off, by the death of the child
// or of the process before this one:
//
//	its turn                                   the message
//	is not there                               is run, unless a tool is known to have started, now or in the attempt before,
//	                                           or this has happened too often ([mostVanished])
//	is completed, or failed                    has that end
//	was cut after a tool may have started      is interrupted
//	was cut before that, for the second time   is interrupted
//	was cut before that                        is run again
//	cannot be found, or its thread is gone     is interrupted
//
// Whether a tool started is known by what stdout said, or by what the caller
// has noted of it, or by the rollout file: see [appserver.ReadTrace] for why
// the first two are not enough.

// errBefore is why an attempt was cut off that this process has not seen.
var errBefore = errors.New("the runtime was stopped in the middle of it")

// A finding is what codex knows of an attempt that was cut off.
type finding struct {
	on       *child
	turn     *appserver.Turn // nil: it never ran
	newest   bool            // none is behind it
	tool     bool            // a tool of it may have started
	called   bool            // the model has called something in it
	repeated bool            // an attempt before it was a turn, too
	worked   bool            // and a tool of that has run
	lost     bool            // the thread is gone although it had turns: nothing can be said
	left     bool            // the thread can be looked at, and the conversation does not go on in it
}

// settleCut finds out what became of the newest attempt at j. It returns the
// job's end, or nil if another attempt is to be made, or errHeld if codex could not
// be asked and j waits until it can. The turn is nil if this process has not seen it
// begin. The caller holds c.lock.
func (e *Executor) settleCut(c *conversation, j *job, t *turn, cause error) (*agent.Ended, error) {
	defer e.keepThread(c, j.attempt.Thread)()
	found, err := e.find(c, j)
	tool := found.tool || toolKnown(j, t)
	log := e.log.With("job", j.ID, "attempt", j.attempt.N, "thread_id", j.attempt.Thread, "cause", cause)
	switch {
	case j.ctx.Err() != nil:
		return e.cutShort(j, t), nil
	case errors.Is(err, errHeld):
		j.Cut, j.seen = &Cut{Attempt: j.attempt.N, ThreadID: j.attempt.Thread, Tool: tool}, t
		return nil, err
	case err != nil:
		log.Warn("what became of a turn that was cut off cannot be found out", "err", err)
		return interrupted(t, nil, true), nil
	case found.turn == nil && (found.lost || toolKnown(j, t)): // somebody has deleted what could tell
		log.Warn("a turn was cut off, and its thread is gone")
		return interrupted(t, nil, true), nil
	case found.turn == nil && found.worked && !j.goOn: // only this process would have known where to go on
		log.Warn("a turn was to go on behind a summary, and was cut off before that")
		return interrupted(t, nil, true), nil
	case found.turn == nil:
		return e.vanished(j, t, log), nil
	case !toolKnown(j, t) && e.refusedBefore(found):
		log.Info("a message whose attempt was refused for its credential is run again")
		return nil, nil
	case found.turn.Status == appserver.TurnCompleted, found.turn.Status == appserver.TurnFailed:
		log.Info("the end of a turn that was cut off was read from its history", "status", found.turn.Status)
		if t == nil {
			j.begun(c, found.turn.ID, "")
		}
		return e.deliver(c, e.order(j), t, found), nil
	}
	if tool || found.repeated || j.rerun {
		log.Warn("a turn was cut off", "tool", tool)
		end := interrupted(t, found.turn, tool)
		if found.left {
			end.Failure.Message = cutOffAndLeft
		}
		return end, nil
	}
	log.Info("a turn that was cut off before it did anything is run again")
	j.rerun = true
	return nil, nil
}

// toolKnown reports whether it was seen or noted that a tool of the newest attempt
// at j has started.
func toolKnown(j *job, t *turn) bool {
	return j.Cut != nil && j.Cut.Attempt == j.attempt.N && j.Cut.Tool || t != nil && t.record.tools()
}

// find asks codex what it knows of the newest attempt at j. A child that dies
// over it is not the last one.
func (e *Executor) find(c *conversation, j *job) (found finding, err error) {
	for try := 1; ; try++ {
		var on *child
		if on, err = e.childFor(j); err == nil {
			found, err = e.lookUp(j.ctx, c, j.attempt, on)
			err = e.trouble(err)
		}
		if err == nil || j.ctx.Err() != nil || !mayTry(try, err) {
			break
		}
		if !Unstarted.is(err) && !passing(j.ctx, err) {
			break
		}
	}
	return found, err
}

// fewTurns is how many of the newest turns are looked at first. A cut attempt is
// the newest, or what was begun behind it has nothing to do with it.
const fewTurns, manyTurns = 5, 100

// lookUp finds out what codex knows of an attempt.
func (d *driver) lookUp(ctx context.Context, c *conversation, of Attempt, on *child) (finding, error) {
	if err := d.loadCut(ctx, c, of, on); err != nil {
		if appserver.IsNoRollout(err) { // codex makes the file before it asks the model
			lost, bookErr := d.cfg.Book.ThreadUsed(ctx, of.Thread)
			d.forget(c, err)
			return finding{on: on, lost: lost}, bookErr
		}
		return finding{}, on.settled(err)
	}
	id, limit := of.clientID(), fewTurns
	if c.threadID != of.Thread { // behind a fork no file tells that there is more to look at
		limit = manyTurns
	}
	turns, err := d.listTurns(ctx, c, on, limit)
	trace, untraced := d.traceOf(c, of, findMessage(turns, id))
	if err == nil && findMessage(turns, id) == nil && trace.Found {
		turns, err = d.listTurns(ctx, c, on, manyTurns)
	}
	found := finding{on: on, turn: findMessage(turns, id), tool: untraced != nil || trace.Tool, called: trace.Called, left: !d.isLoaded(c, on)}
	found.newest = found.turn != nil && found.turn == &turns[0]
	found.repeated, found.worked = before(turns, of)
	switch {
	case err != nil:
		return finding{}, on.settled(err)
	case found.turn == nil && trace.Found:
		return finding{}, errors.New("its message is in the thread's file, but not in its history")
	}
	for _, item := range found.items() {
		found.tool = found.tool || item.Type.IsTool()
	}
	return found, nil
}

func (f finding) items() []appserver.Item {
	if f.turn == nil {
		return nil
	}
	return f.turn.Items
}

// keepThread moves c to the thread of an attempt. If the conversation
// has a newer one, what is returned moves it back.
func (d *driver) keepThread(c *conversation, thread string) (back func()) {
	newer := c.threadID
	if newer == thread {
		return func() {}
	}
	d.unloaded(c)
	c.threadID, c.rollout, c.resumable = thread, "", true
	if newer == "" {
		return func() {}
	}
	return func() {
		d.unloaded(c)
		c.threadID, c.rollout, c.resumable, c.fresh = newer, "", true, ""
	}
}

// loadCut loads the thread of an attempt.
func (d *driver) loadCut(ctx context.Context, c *conversation, of Attempt, on *child) error {
	if d.isLoaded(c, on) {
		return nil
	}
	d.makeRoom(ctx, on, 1)
	err := d.resume(ctx, c, on)
	switch {
	case d.mayFork(c, err):
		return d.fork(ctx, c, on)
	case appserver.IsOtherProvider(err): // it is not gone on with, and can be looked at all the same
		ctx, cancel := context.WithTimeout(ctx, d.cfg.Patience)
		defer cancel()
		thread, readErr := on.ThreadRead(ctx, c.threadID)
		c.rollout = thread.Path
		return readErr
	}
	return err
}

// traceOf is what the thread's files have of an attempt, whose turn is in the history if it is
// not nil. Behind a fork the files of the thread that it is of have it, and what was taken back in that.
func (d *driver) traceOf(c *conversation, of Attempt, turn *appserver.Turn) (trace appserver.Trace, err error) {
	switch {
	case c.threadID == of.Thread:
		return d.cfg.ReadTrace(c.rollout, of.clientID())
	case turn == nil:
		return trace, nil
	}
	trace, err = d.cfg.FindTrace(c.rollout, of.clientID())
	if err == nil && !trace.Found {
		err = errors.New("its message is in the history, but in no file of the thread")
	}
	return trace, err
}

func (d *driver) listTurns(ctx context.Context, c *conversation, on *child, limit int) ([]appserver.Turn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Patience)
	defer cancel()
	return on.TurnsList(ctx, c.threadID, limit, true)
}

// findMessage returns the turn that holds the user message with a client id.
func findMessage(turns []appserver.Turn, clientID string) *appserver.Turn {
	for i := range turns {
		for _, item := range turns[i].Items {
			if item.Type == appserver.ItemUserMessage && item.ClientID == clientID {
				return &turns[i]
			}
		}
	}
	return nil
}

// before reports whether attempts before the newest have become turns, and whether
// a tool has run in them.
func before(turns []appserver.Turn, of Attempt) (repeated, worked bool) {
	for _, turn := range turns {
		earlier := slices.ContainsFunc(turn.Items, func(item appserver.Item) bool {
			return isAttempt(item.ClientID, of.Job) && item.ClientID != of.clientID()
		})
		repeated = repeated || earlier
		worked = worked || earlier && slices.ContainsFunc(turn.Items, func(item appserver.Item) bool { return item.Type.IsTool() })
	}
	return repeated, worked
}

// isAttempt reports whether a client id is that of an attempt at a job.
func isAttempt(clientID, jobID string) bool {
	n, ours := strings.CutPrefix(clientID, jobID+".")
	_, err := strconv.Atoi(n)
	return ours && err == nil
}

// isOfSomeJob reports whether a client id has the form of an attempt's.
func isOfSomeJob(clientID string) bool {
	dot := strings.LastIndexByte(clientID, '.')
	return dot > 0 && isAttempt(clientID, clientID[:dot])
}

// deliver ends an attempt as the history says its turn has ended. The turn is nil if this process
// has not seen it.
func (d *driver) deliver(c *conversation, of order, t *turn, found finding) *agent.Ended {
	if t == nil {
		t = &turn{order: of, d: d, c: c, id: found.turn.ID, record: newRecord(), before: c.uncertain(), attention: newAttention(), inquiry: &inquiry{over: func() {}}}
		defer t.attention.close()
	}
	t.on = found.on
	end := t.settle(*found.turn)
	end.Tools = end.Tools || found.tool
	if end.Tools || found.called {
		t.hasRead()
	}
	if found.newest {
		d.clear(c, t, end)
	}
	return end
}

// interrupted is the end of a turn that may have run in part, with the text
// that it had.
func interrupted(t *turn, final *appserver.Turn, tools bool) *agent.Ended {
	r := newRecord()
	if t != nil {
		r = t.record
	}
	if final != nil {
		for _, item := range final.Items {
			r.keep(item)
		}
	}
	end := agent.Ended{Messages: r.messages, Diff: r.diff, Usage: r.usage, Tools: tools}
	end.Outcome, end.Failure = agent.Interrupted, cutOff()
	return &end
}

// cutShort is the end of a job that was canceled, or of a runtime that stops,
// before it was known what became of the attempt. After a stop the next process
// finds out, also whether a tool had started.
func (e *Executor) cutShort(j *job, t *turn) *agent.Ended {
	end := agent.Ended{}
	if t != nil {
		end = t.summary()
	}
	end = fromCause(end, context.Cause(j.ctx))
	end.Tools = end.Outcome == agent.Canceled && t != nil && t.tools()
	return &end
}

// refusedBefore reports whether a turn was refused for its credential before it
// had done anything: the process before this one had no time to hold its job.
func (d *driver) refusedBefore(found finding) bool {
	if found.turn.Status != appserver.TurnFailed || found.tool {
		return false
	}
	r := d.refusalOf(found.turn.Error)
	return r != nil && r.kind == agent.FailAuth
}
