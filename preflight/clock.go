package preflight

import (
	"context"
	"fmt"
	"time"
)

// A clock is this machine's, or one that a test turns.
type clock struct {
	wall  func() time.Time     // what it shows
	since func() time.Duration // how long the machine has run, whatever it shows
	wait  func(context.Context, time.Duration)
}

// machineClock reads both from the system. Go keeps the second one in each time that it
// takes, and leaves it out of one that is rounded.
func machineClock() clock {
	start := time.Now()
	return clock{
		wall:  func() time.Time { return time.Now().Round(0) },
		since: func() time.Duration { return time.Since(start) },
		wait: func(ctx context.Context, d time.Duration) {
			select {
			case <-ctx.Done():
			case <-time.After(d):
			}
		},
	}
}

// glance is how long the clock is looked at. Clocks tick at least every ten milliseconds.
const glance = 50 * time.Millisecond

// Clock checks that the clock goes, by two looks at it. Where it stands, nothing that is
// to end at some hour ever does: a limit of the model's, a token, what is kept for a time.
func Clock() Check { return machineClock().check() }

func (c clock) check() Check {
	return Check{"clock", func(ctx context.Context) Result {
		for range 2 { // one could fall together with a correction by just as much
			if !c.stands(ctx) || ctx.Err() != nil {
				return ok("it goes")
			}
		}
		return fail("this machine's clock stands at "+c.wall().UTC().Format(time.RFC3339)+": limits and tokens would never come to their ends",
			"have it go again (is the machine a copy that was stopped, or its time faked?), and restart what runs")
	}}
}

func (c clock) stands(ctx context.Context) bool {
	shown, at := c.wall(), c.since()
	c.wait(ctx, glance)
	went, ran := c.wall().Sub(shown), c.since()-at
	return ran > 0 && went >= 0 && went < ran/10
}

// roundly is a duration as people say it.
func roundly(d time.Duration) string {
	if d >= time.Minute {
		return fmt.Sprint(d.Round(time.Second))
	}
	return fmt.Sprint(d.Round(100 * time.Millisecond))
}
