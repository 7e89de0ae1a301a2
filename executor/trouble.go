package executor

import (
	"context"
	"errors"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// A Trouble is why an attempt at a job did not become a turn, or was cut off.
type Trouble struct {
	Kind    TroubleKind
	Killed  bool          // the agent was killed from outside, and has not failed by itself
	Wait    time.Duration // that lies between the attempt and the next
	Failing time.Duration // for which starts have failed in a row; of Unstarted
	End     agent.Ended   // of the job, if nothing more is tried; it has a Failure
	Err     error         // for the log

	Room  <-chan struct{} // of Crowded: closed, or has a value, when it is worth another attempt
	Until time.Time       // of Crowded: when the job waits no longer
	Cut   string          // of WasCut: what is said of a turn that was cut off so and may have done something; empty if the agent has died
}

func (t *Trouble) Error() string { return t.Err.Error() }

func (t *Trouble) Unwrap() error { return t.Err }

// A TroubleKind says what can be done about a [Trouble].
type TroubleKind string

// The kinds of trouble.
const (
	Unstarted TroubleKind = "unstarted" // the agent could not be started
	Passing   TroubleKind = "passing"   // the agent has not taken the message, and may if it is offered again
	WasCut    TroubleKind = "cut"       // the agent, or where its commands run, has died, and may have taken the message: it is to be found out
	Lasting   TroubleKind = "lasting"   // the agent does not take the message
	Crowded   TroubleKind = "crowded"   // there is no room for the turn where it is to run
)

// is reports whether an error is a trouble of a kind.
func (k TroubleKind) is(err error) bool {
	trouble, ok := errors.AsType[*Trouble](err)
	return ok && trouble.Kind == k
}

// killed reports whether an error is that somebody has killed the agent: the next start has
// nothing against it.
func killed(err error) bool {
	trouble, ok := errors.AsType[*Trouble](err)
	return ok && trouble.Killed
}

// passing reports whether a message may be offered once more after an error, which is
// waited for.
func passing(ctx context.Context, err error) bool {
	trouble, ok := errors.AsType[*Trouble](err)
	if !ok || trouble.Kind == Lasting || trouble.Kind == Crowded || trouble.Kind == Unstarted && !trouble.Killed {
		return false
	}
	return trouble.Wait == 0 || sleep.For(ctx, trouble.Wait)
}
