package executor

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// What a job is refused alone is no reason to keep others waiting: anybody may name
// any model, and providers have limits for each. Where it may be about the credential,
// the model that threads have is asked, while the turns of others go on:
//
//	a credential   the job waits for that answer, then is attempted once more
//	a limit        the job fails; one that was told to wait does so, by itself
//
// If it concerns all after all, that answer closes the hold, or the turns of others do.

// waitsAlone reports whether j waits for the end of a refusal of its own.
func (e *Executor) waitsAlone(j *job, r *Refusal) bool {
	e.log.Info("the model refuses a job; others are not held for it", "job", j.ID, "model", r.Model, "kind", string(r.Kind), "code", r.Code)
	if r.Kind == agent.FailAuth || r.Usage || r.Model == "" { // of the account, as a rule, or of the model of all
		e.hold.doubt()
	}
	// Nobody is left to stand and wait for the end of a long limit.
	waits := r.Kind == agent.FailAuth || j.promised() && (j.Patient || time.Until(r.Until) < shortLimit)
	if waits {
		j.aside = r
	}
	return waits
}

// sitOut waits for the end of what the job was refused alone, if it was. It returns the
// end of a job that does not get that far.
func (e *Executor) sitOut(j *job) *agent.Ended {
	r := j.aside
	j.aside = nil
	switch {
	case r == nil:
		return nil
	case r.Kind == agent.FailLimit:
		e.sitOutLimit(j, r)
	default:
		e.sitOutDoubt(j)
	}
	if j.ctx.Err() != nil {
		end := e.beforeStart(causeOf(j.ctx, nil))
		return &end
	}
	return nil
}

// sitOutDoubt waits until it is found out whether a refusal concerns all.
func (e *Executor) sitOutDoubt(j *job) {
	over := e.hold.look().doubt
	if over == nil {
		return
	}
	select {
	case <-over:
	case <-j.ctx.Done():
	}
}

// sitOutLimit waits until a limit ends that only j has met, or the credential is another one. It is
// the job itself that finds out whether it has.
func (e *Executor) sitOutLimit(j *job, r *Refusal) {
	j.pause.alone(limitHeld(r), e.hold, j.observe)
	began := time.Now()
	exchanged := e.driver.Watch()
	at := began.Add(min(e.cfg.LimitProbe<<(j.refusals-1), limitMost))
	if r.Until.After(at) {
		at = r.Until
	}
	for left := remaining(at, time.Now(), 0); left > 0; left = remaining(at, time.Now(), time.Since(began)) {
		if !sleep.For(j.ctx, min(left, lookEvery)) {
			return
		}
		if exchanged() {
			j.refusals-- // another credential has not been refused, nor has another plan of the account
			break
		}
	}
	j.pause.alone(nil, e.hold, j.observe)
}
