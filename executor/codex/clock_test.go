package codex

import (
	"testing"
	"time"
)

// TestClock counts what passes while it runs, and nothing while it rests.
func TestClock(t *testing.T) {
	t.Parallel()
	at := time.Unix(0, 0)
	c := clock{on: true, left: 10 * time.Second}
	for i, want := range []time.Duration{10 * time.Second, 7 * time.Second, 4 * time.Second, time.Second, time.Millisecond} {
		left, wound := c.wind(at)
		if left != want || !wound {
			t.Errorf("round %d: %s left (%v), want %s", i, left, wound, want)
		}
		if _, again := c.wind(at); again {
			t.Error("a running clock was wound")
		}
		at = at.Add(3 * time.Second)
		c.rest(at)
		c.rest(at.Add(time.Hour))
		at = at.Add(time.Minute)
	}
	if _, wound := (&clock{}).wind(at); wound {
		t.Error("a turn without a limit has one")
	}
}
