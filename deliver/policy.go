package deliver

import (
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A Verdict is what a sender makes of one try.
type Verdict int

// The verdicts.
const (
	Later   Verdict = iota // it was not tried; with an error, because it could not be read
	Arrived                // the receiver has it
	Dropped                // it need not be made any more
	Again                  // the receiver may take it later
	Insist                 // the same, and it is tried without an end
	Refused                // the receiver will never take it
)

// An Outcome is what came of one try. But for the verdict and the error it may be left out
// where it does not matter.
type Outcome struct {
	Verdict Verdict
	Err     error         // why it has not arrived, in words that are fit for the log
	Wait    time.Duration // that the receiver asks for
	Tries   int           // that have failed before
	Created time.Time     // when it was put into the journal
	Log     []any         // attributes that tell which one it is
}

// VerdictOn is that on an error of a receiver: nil has arrived, and one with a method
// Permanent that returns true is refused.
func VerdictOn(err error) Verdict {
	var refused interface{ Permanent() bool }
	switch {
	case err == nil:
		return Arrived
	case errors.As(err, &refused) && refused.Permanent():
		return Refused
	}
	return Again
}

// A State is what a delivery is once it was tried.
type State int

// The states.
const (
	Untouched State = iota // as it was
	Sent
	Unneeded // it is done without having arrived
	PutOff
	Dead
)

// A Settlement is what is to be noted of a delivery.
type Settlement struct {
	State State
	Err   error     // of the try; nil if it is done
	Tries int       // that have failed, with this one
	Due   time.Time // of one that is put off
}

// A Curve is how long the pauses between tries are: a second, then twice as long each time.
type Curve struct {
	Longest time.Duration
	Spread  float64 // of a pause, to both sides: receivers that come back are not overrun at once
}

const (
	firstPause = time.Second
	// LongestAsked is how long a receiver can have us wait.
	LongestAsked = 10 * time.Minute
	// steps are more than any curve rises.
	steps = 20
)

// Usual is the curve of what is sent to receivers of all kinds.
func Usual() Curve { return Curve{Longest: 5 * time.Minute, Spread: 0.2} }

// After is the pause after so many failures and one more, at least as long as was asked for.
func (c Curve) After(failures int, asked time.Duration) time.Duration {
	pauses := backoff.ExponentialBackOff{InitialInterval: firstPause, MaxInterval: c.Longest, Multiplier: 2, RandomizationFactor: c.Spread}
	pauses.Reset()
	for range min(failures, steps) {
		pauses.NextBackOff()
	}
	return max(pauses.NextBackOff(), min(asked, LongestAsked))
}

// fewTries take some minutes.
const fewTries = 8

// IsOver reports whether something that was put in so long ago, and has been tried so often, has had
// its time. What waited while no process ran has some tries all the same.
func IsOver(tries int, age time.Duration) bool { return tries > fewTries && age > store.Patience }

// settlement is what becomes of a delivery that was tried.
func (c Curve) settlement(o Outcome, now time.Time) Settlement {
	s := Settlement{Tries: o.Tries + 1, Err: o.Err}
	switch o.Verdict {
	case Arrived:
		return Settlement{State: Sent, Tries: o.Tries}
	case Dropped:
		return Settlement{State: Unneeded, Tries: o.Tries}
	case Refused:
		s.State = Dead
		return s
	}
	s.State, s.Due = PutOff, now.Add(c.After(o.Tries, o.Wait))
	if o.Verdict == Again && IsOver(s.Tries, s.Due.Sub(o.Created)) {
		s.State, s.Due = Dead, time.Time{}
	}
	return s
}
