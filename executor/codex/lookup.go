package codex

import (
	"context"
	"errors"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/inquiry"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/items"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/rollout"
)

// A finding is what codex knows of an attempt.
type finding struct {
	executor.Finding
	on     *child.Child
	turn   *appserver.Turn // nil if it has become none
	newest bool            // none is behind it
	called bool            // the model has called something in it
}

// lookUp finds out what codex knows of an attempt.
func (d *Driver) lookUp(ctx context.Context, c *conversation, of executor.Attempt, on *child.Child) (finding, error) {
	if err := d.loadCut(ctx, c, on); err != nil {
		if appserver.IsNoRollout(err) { // codex makes the file before it asks the model
			lost, journalErr := d.cfg.Journal.ThreadUsed(ctx, of.Thread)
			d.forget(c, err)
			found := finding{on: on}
			if lost {
				found.State = executor.Lost
			}
			return found, journalErr
		}
		return finding{}, on.Settled(err)
	}
	id, limit := of.ClientID(), fewTurns
	if c.threadID != of.Thread { // behind a fork no file tells that there is more to look at
		limit = manyTurns
	}
	turns, err := d.listTurns(ctx, c, on, limit)
	trace, untraced := d.traceOf(c, of, findMessage(turns, id))
	if err == nil && findMessage(turns, id) == nil && trace.Found {
		turns, err = d.listTurns(ctx, c, on, manyTurns)
	}
	found := finding{on: on, turn: findMessage(turns, id), called: trace.Called}
	found.Tool, found.Left = untraced != nil || trace.Tool, !d.isLoaded(c, on)
	found.newest = found.turn != nil && found.turn == &turns[0]
	found.Repeated, found.Worked = before(turns, of)
	switch {
	case err != nil:
		return finding{}, on.Settled(err)
	case found.turn == nil && trace.Found:
		return finding{}, errors.New("its message is in the thread's file, but not in its history")
	}
	for _, item := range found.items() {
		found.Tool = found.Tool || item.Type.IsTool()
	}
	if found.State = d.stateOf(found); trace.Unread && addedTo(found.turn, id) {
		found.State = executor.Absent
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
func (d *Driver) keepThread(c *conversation, thread string) (back func()) {
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

// loadCut loads the thread of c, in which an attempt was cut off.
func (d *Driver) loadCut(ctx context.Context, c *conversation, on *child.Child) error {
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
func (d *Driver) traceOf(c *conversation, of executor.Attempt, turn *appserver.Turn) (trace rollout.Trace, err error) {
	switch {
	case c.threadID == of.Thread:
		return d.cfg.ReadTrace(c.rollout, of.ClientID())
	case turn == nil:
		return trace, nil
	}
	trace, err = d.cfg.FindTrace(c.rollout, of.ClientID())
	if err == nil && !trace.Found {
		err = errors.New("its message is in the history, but in no file of the thread")
	}
	return trace, err
}

// deliver ends an attempt as the history says its turn has ended. The turn is nil if this process
// has not seen it.
func (d *Driver) deliver(c *conversation, of executor.Order, t *turn, found finding) *agent.Ended {
	if t == nil {
		t = &turn{Order: of, d: d, c: c, id: found.turn.ID, record: items.NewRecord(), before: c.uncertain(), attention: newAttention(), inquiry: inquiry.None()}
		defer t.attention.close()
	}
	t.on = found.on
	end := t.settle(*found.turn)
	end.Tools = end.Tools || found.Tool
	if end.Tools || found.called {
		t.hasRead()
	}
	if found.newest {
		d.clear(c, t, end)
	}
	return end
}

// stateOf is how an attempt stands by its turn.
func (d *Driver) stateOf(found finding) executor.FindingState {
	switch {
	case found.turn == nil:
		return executor.Absent
	case found.turn.Status == appserver.TurnFailed && !found.Tool && d.refusesLogin(found.turn.Error):
		return executor.Refused
	case found.turn.Status == appserver.TurnCompleted, found.turn.Status == appserver.TurnFailed:
		return executor.Concluded
	}
	return executor.Broken
}

// refusesLogin reports whether an error is that the model refuses the credential.
func (d *Driver) refusesLogin(failed *appserver.TurnError) bool {
	r := d.failures.Refusal(failed)
	return r != nil && r.Kind == agent.FailAuth
}

// told is what the scheduler is told of a finding, with what this process has seen of the turn.
func (f finding) told(c *conversation, seen executor.Turn) executor.Finding {
	t, _ := seen.(*turn)
	f.SoFar = f.soFar(t)
	if f.turn == nil {
		return f.Finding
	}
	f.Begun, f.With = c.begun(f.turn.ID), f.jobs()
	f.End = func(of executor.Order, seen executor.Turn) *agent.Ended {
		t, _ := seen.(*turn)
		return c.d.deliver(c, of, t, f)
	}
	return f.Finding
}

// jobs are those of which an attempt stands in the turn.
func (f finding) jobs() (all []string) {
	for _, item := range f.items() {
		if item.Type == appserver.ItemUserMessage && isOfSomeJob(item.ClientID) {
			all = append(all, item.ClientID[:strings.LastIndexByte(item.ClientID, '.')])
		}
	}
	return all
}

// soFar is what an attempt has shown: what this process has seen of it, which is nil for nothing, and
// what the history has.
func (f finding) soFar(seen *turn) agent.Ended {
	r := items.NewRecord()
	if seen != nil {
		r = seen.record
	}
	for _, item := range f.items() {
		r.Keep(item)
	}
	return agent.Ended{Messages: r.Messages, Diff: r.Diff, Usage: r.Usage}
}
