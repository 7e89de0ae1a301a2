package executor

import (
	"errors"
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// Where there is no room for a turn, the job gives its slot back, so that others run whose turns have room
// elsewhere, and waits at the gate until the driver says that it is worth another attempt, for as long as the
// driver says at most. In the queue of its context it keeps its place.

// findsNoRoom reports whether a job waits for room, because of the error that an attempt at it has met. It tells
// the sender what it waits for, once for each reason.
func (e *Executor) findsNoRoom(j *job, err error) bool {
	if !Crowded.is(err) || j.slot == nil || j.ctx.Err() != nil {
		return false
	}
	trouble, _ := errors.AsType[*Trouble](err)
	words := trouble.End.Failure.Message
	if j.crowdedAt.IsZero() {
		j.crowdedAt = time.Now()
	}
	if j.crowdedBy != words {
		e.log.Info("a message waits for room", "job", j.ID, "why", words)
		j.observe(crowdedHeld(words, trouble.Until))
	}
	j.crowded, j.crowdedBy = trouble, words
	return true
}

// awaitRoom waits for room if j has found none. It returns the end of a job that has waited for long enough.
func (e *Executor) awaitRoom(j *job) *agent.Ended {
	full := j.crowded
	if full == nil {
		return nil
	}
	j.crowded = nil
	enough := time.NewTimer(time.Until(full.Until))
	defer enough.Stop()
	select {
	case <-full.Room:
	case <-j.ctx.Done(): // what comes next ends it
	case <-enough.C:
		waited := time.Since(j.crowdedAt).Round(time.Second)
		e.log.Warn("a message has waited for room in vain", "job", j.ID, "waited", waited)
		return inVain(full.End, waited)
	}
	return nil
}

// inVain says in an end how long the job has waited.
func inVain(end agent.Ended, waited time.Duration) *agent.Ended {
	failure := *end.Failure
	failure.Message += fmt.Sprintf(". The message has waited %v for room", waited)
	end.Failure = &failure
	return &end
}

// crowdedHeld is what a job that waits for room is told, until its turn begins.
func crowdedHeld(words string, until time.Time) agent.Paused {
	return agent.Paused{
		Kind: agent.FailUnreachable, Text: words + ". This message keeps its place and waits",
		Data: map[string]any{"kind": string(agent.FailUnreachable), "reason": words, "until": until.UTC().Format(time.RFC3339)},
	}
}
