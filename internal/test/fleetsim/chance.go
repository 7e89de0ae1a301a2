package fleetsim

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"
)

// A draw is what is drawn from a seed for what has a name: the same each time.
type draw struct{ *rand.Rand }

func drawOf(seed uint64, name ...any) draw {
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, name...)
	return draw{rand.New(rand.NewPCG(seed, h.Sum64()))}
}

// happens is true in so many of a hundred draws.
func (d draw) happens(percent float64) bool { return d.Float64()*100 < percent }

// between returns a time from least to most, which no other is likely to be.
func (d draw) between(least, most time.Duration) time.Duration {
	return least + time.Duration(d.Int64N(int64(most-least)+1))
}

// about returns a time that is mean on average, and mostly shorter.
func (d draw) about(mean time.Duration) time.Duration {
	return time.Duration(-math.Log(1-d.Float64()) * float64(mean))
}

// A Size is of a run.
type Size struct {
	Machines, Conversations int
	For                     time.Duration // until the calm at the end
}

// A weather is how much goes on in a run.
type weather struct {
	unlike  bool          // whether some machines are four times as large as others
	turn    time.Duration // on average
	idle    time.Duration // of a conversation between two turns
	life    time.Duration // of a conversation
	others  float64       // of a machine's turns are taken by others, at most
	happens time.Duration // to a machine, between two things
	dies    float64       // and the five below: of a hundred of these
	blinks  float64
	drains  float64
	leaves  float64
	lag     time.Duration // at most, until what a machine reports is heard
	fixed   float64       // conversations whose files cannot be moved
	gpu     float64       // conversations that need a label
	gpus    int           // each so many-th machine has it
	unended float64       // turns on a machine that was lost, of which the placer is not told the end
}

// weatherOf draws how much goes on.
func weatherOf(seed uint64, size Size) (w weather, turns int) {
	d := drawOf(seed, "weather")
	some := func(most float64) float64 {
		if d.IntN(4) == 0 {
			return 0
		}
		return most * d.Float64()
	}
	w = weather{
		unlike: d.happens(30),
		turn:   d.between(10*time.Second, 40*time.Second), life: d.between(40*time.Minute, 80*time.Minute),
		others: some(0.4), happens: d.between(10*time.Minute, 30*time.Minute), dies: some(15), blinks: some(30), drains: some(15), leaves: some(6),
		lag: d.between(0, time.Second), fixed: some(25), gpu: some(8), gpus: 3 + d.IntN(3), unended: some(100),
	}
	for n := range size.Machines {
		turns += w.turnsOf(n)
	}
	load := 0.15 + 0.6*d.Float64() // of the turns that the fleet can run
	w.idle = max(time.Second, time.Duration(float64(size.Conversations)*float64(w.turn)/(load*float64(turns)))-w.turn)
	return w, turns
}

// turnsOf is how many turns the machine of a station runs at a time.
func (w weather) turnsOf(n int) int {
	if w.unlike {
		return 2 << (n % 3)
	}
	return 4 + 2*(n%3)
}
