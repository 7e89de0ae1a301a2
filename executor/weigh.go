package executor

import (
	"context"
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// errWaits is why an attempt was none: the model refused it before anything was
// done, or the agent could not be started. The job waits and is attempted again.
var errWaits = errors.New("the job has to wait")

// weigh looks at the end of an attempt: one that the model refused is none if it
// had done nothing, and what the refusal says of the credential may concern all
// others. It returns the job's end, or nil if another attempt is to be made.
func (e *Executor) weigh(j *job, t Turn, r *Result) (*agent.Ended, error) {
	switch {
	case r.Full:
		return e.relieve(j, t, r.End)
	case r.Refused != nil && e.waitsOut(j, r.Refused, r.End.Tools):
		t.Void()
		return nil, errWaits
	}
	t.Keep(r.End, false)
	return r.End, nil
}

// relieve has a thread whose context is full be summarised, once for a job. It
// returns the job's end, or nil if another attempt is to be made.
func (e *Executor) relieve(j *job, t Turn, end *agent.Ended) (*agent.Ended, error) {
	switch {
	case j.over():
		return end, nil
	case j.compacted: // the message itself is too long
		t.Keep(end, true)
		return end, nil
	}
	refused, err := t.Shorten(end)
	switch {
	case refused != nil:
		if e.waitsOut(j, refused, end.Tools) {
			return nil, errWaits
		}
		end.Failure = refused.Failure(end.Tools)
		t.Keep(end, true)
		return end, nil
	case err == nil:
		j.compacted, j.goOn = true, end.Tools
		return nil, nil
	case j.over():
		end.Failure = nil
		stopped := Stopped(*end, context.Cause(j.ctx))
		return &stopped, nil
	}
	e.log.Warn("a thread could not be compacted", "thread_id", j.attempt.Thread, "err", err)
	t.Keep(end, true)
	return end, nil
}

// over reports whether the job was canceled, or we are closing.
func (j *job) over() bool { return j.ctx.Err() != nil }

// waitsOut reports whether j waits for the end of what the model has refused it
// for. It closes the hold if that concerns all jobs.
func (e *Executor) waitsOut(j *job, r *Refusal, tools bool) bool {
	if !j.mayWait(r) {
		return false
	}
	if r.Alone() {
		return e.waitsAlone(j, r) && !tools
	}
	e.hold.refused(r)
	return !tools && (r.Kind == agent.FailAuth || j.promised())
}

// mostRefusals is how often a job is held for a credential that the model takes
// from others, or for a limit that no other job has met. Where it is known that
// others are not refused the credential, once is enough.
const mostRefusals = 3

// mayWait reports whether a refusal of the job may pass: it counts the refusals.
func (j *job) mayWait(r *Refusal) bool {
	j.refusals++
	switch {
	case r.Kind == agent.FailAuth && r.Alone():
		return j.refusals == 1
	case r.Kind == agent.FailAuth || r.Alone():
		return j.refusals <= mostRefusals
	}
	return true
}

// promised reports whether the sender was told that the job waits for the end of
// a limit, by us or perhaps by the process before us.
func (j *job) promised() bool { return j.Accepted || j.pause.wasHeld() }
