package sim

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"
)

// A chance is what is drawn from a seed.
type chance uint64

// of draws for what is named so: the same each time.
func (c chance) of(name ...any) draw {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, name...)
	return draw{rand.New(rand.NewPCG(uint64(c), h.Sum64()))}
}

type draw struct{ *rand.Rand }

// happens is true in so many of a hundred draws.
func (d draw) happens(percent float64) bool { return d.Float64()*100 < percent }

// between returns a time from least to most, which no other is likely to be.
func (d draw) between(least, most time.Duration) time.Duration {
	return least + time.Duration(d.Int64N(int64(most-least)+1))
}

// A weather is how much goes wrong in a run, in percent of the occasions.
type weather struct {
	agentDies      float64 // at a step of a turn
	agentKilled    float64 // of these, by another process
	cutBefore      float64 // it dies as it is handed a message, before it has taken it
	cutAfter       float64 // the same, after
	startFails     float64 // a start of it
	turnsAway      float64 // it does not take a message that it may take later
	lostEnd        float64 // of a turn is not told
	lateEnd        float64 // is told late
	hangs          float64 // a turn that does nothing more
	ignores        float64 // an interrupt
	asks           float64 // a turn that asks
	works          float64 // a turn in which a tool runs
	lags           float64 // what it says of that
	refuses        float64 // the model: a limit, or the credential
	refusesAlone   float64 // of these, for a model that the message names
	full           float64 // a thread
	takesNoSteer   float64 // a turn that is offered a message
	commitFails    float64 // a commit
	deaths         int     // of the runtime
	deathAtCommit  float64 // of these, at a commit and not between two
	deathAtStart   float64 // of those that are at one, as the agent has taken a message instead
	stops          float64 // of those that are at none, are no deaths: it is told to stop
	drains         float64 // of these: what has begun may end first
	leaves, repeat float64 // clients
	cancels        float64
	names          float64 // of messages, the task of the one before
	midTurn        bool
	lookFails      float64 // a look into the history
	fileLacks      float64 // the files of the agent, what it had told of a tool
	queue          int     // the most that may wait in a context; 0 for the usual
	outages        int     // times in which nothing can be written
	retries        float64 // clients that ask for a message to be run again
}

// weather draws how much goes wrong: nothing in some runs, much of one thing in others.
func (c chance) weather() weather {
	d := c.of("weather")
	some := func(most float64) float64 {
		switch d.IntN(4) {
		case 0:
			return 0
		case 1:
			return most
		}
		return most * d.Float64() / 2
	}
	return weather{
		agentDies: some(20), agentKilled: 100 * d.Float64(), cutBefore: some(20), cutAfter: some(20), startFails: some(20), turnsAway: some(10),
		lostEnd: some(15), lateEnd: some(30), hangs: some(8), ignores: some(50), asks: some(40), works: some(60), lags: some(60),
		refuses: some(15), refusesAlone: 100 * d.Float64(), full: some(8), takesNoSteer: some(50), commitFails: some(4),
		deaths: d.IntN(6), deathAtCommit: 100 * d.Float64(), stops: 100 * d.Float64(), leaves: some(60), repeat: some(60), cancels: some(25),
		midTurn: d.happens(50), names: some(60), lookFails: some(30), fileLacks: some(90),
		queue: []int{0, 0, 2, 4}[d.IntN(4)], outages: max(0, d.IntN(6)-3), retries: some(80), deathAtStart: some(80),
		drains: 100 * d.Float64(),
	}
}
