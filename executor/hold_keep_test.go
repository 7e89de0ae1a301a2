package executor

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// TestClockThatIsSet has the wall clock jump while a limit is waited for.
func TestClockThatIsSet(t *testing.T) {
	t.Parallel()
	now := time.Now()
	at := time.Unix(now.Add(5*time.Hour).Unix(), 0)
	for what, c := range map[string]struct {
		now    time.Time
		waited time.Duration
		want   func(time.Duration) bool
	}{
		"nothing":      {now.Add(time.Hour), time.Hour, func(d time.Duration) bool { return d > 3*time.Hour && d <= 4*time.Hour }},
		"over":         {now.Add(5*time.Hour + time.Second), 5 * time.Hour, func(d time.Duration) bool { return d <= 0 }},
		"set-forward":  {now.Round(0).Add(6 * time.Hour), time.Minute, func(d time.Duration) bool { return d <= 0 }},
		"set-back":     {now.Round(0).Add(-100 * time.Hour), time.Hour, func(d time.Duration) bool { return d == 23*time.Hour }},
		"never-enough": {now.Round(0).Add(-100 * time.Hour), 24 * time.Hour, func(d time.Duration) bool { return d <= 0 }},
	} {
		if d := remaining(at, c.now, c.waited); !c.want(d) {
			t.Errorf("%s: %s are left", what, d)
		}
	}
}

// TestLimitIsBelieved for a while, also where it names a later end.
func TestLimitIsBelieved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, _, _ := waiting(t)
		e.hold.root = t.Context()
		go e.hold.keepLimit(&Refusal{Kind: agent.FailLimit, Limit: "7d", Until: time.Now().Add(100 * time.Hour)})
		time.Sleep(15*time.Minute - time.Second)
		synctest.Wait()
		if e.hold.look().deciding {
			t.Error("it is looked at before its time")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if !e.hold.look().deciding {
			t.Error("it is not looked at when it was time")
		}
	})
}

// TestLimitIsNotProbedInALoop where it should have ended, and that cannot be found out.
func TestLimitIsNotProbedInALoop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		by := &absent{err: errors.New("not now")}
		e := New(Config{LimitProbe: time.Hour}, by)
		e.mu.Lock()
		e.waiting = 1 // a job wants to know
		e.mu.Unlock()
		e.hold.refused(&Refusal{Kind: agent.FailLimit, Limit: "5h", Until: time.Now().Add(2 * time.Second)})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if n := by.probes.Load(); n != 1 {
			t.Errorf("it was looked at %d times, want once", n)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
