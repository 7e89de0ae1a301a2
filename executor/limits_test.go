package executor_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// usageLimit is one of the account, that ends after a time.
func usageLimit(left time.Duration) *executor.Refusal {
	return &executor.Refusal{
		Kind: agent.FailLimit, Code: "usageLimitExceeded", Why: "the limit is reached", Usage: true, Limit: "5h", Until: time.Now().Add(left),
	}
}

// tooMany is a limit of which it is not known when it ends.
func tooMany() *executor.Refusal {
	return &executor.Refusal{Kind: agent.FailLimit, Why: "slow down", Limit: "rate", Status: 429}
}

func probing(every time.Duration) func(*executor.Config, *scripted) {
	return func(c *executor.Config, _ *scripted) { c.LimitProbe = every }
}

// TestWaitingSendersAreTold has messages wait behind the one that meets a long
// limit: senders who stand and wait are not left to, also behind one who does not.
func TestWaitingSendersAreTold(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		e.agent.refuses(usageLimit(time.Hour))
		e.agent.script("j1", play{lasts(time.Second)})
		first, patient, last := e.submit("j1", "one"), e.submit("j2", "one", patient), e.submit("j3", "one")
		first.ends(agent.Failed, agent.FailLimit)
		last.ends(agent.Failed, agent.FailLimit)
		if held := has[agent.Paused](patient, 1); held.Kind != agent.FailLimit {
			t.Errorf("held = %+v", held)
		}
		patient.waits()
		if n := e.agent.asked("j2") + e.agent.asked("j3"); n != 0 {
			t.Errorf("the model was asked %d times more", n)
		}
	})
}

// TestLimitEnds has each job that waits told until when, and the model asked then, once for all of them.
func TestLimitEnds(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		limit := usageLimit(10 * time.Minute)
		e.agent.refuses(limit)
		e.submit("j1", "one").ends(agent.Failed, agent.FailLimit)
		e.submit("j2", "two").ends(agent.Failed, agent.FailLimit) // a sender who waits is told at once
		waiting := e.submit("j3", "two", patient)
		if held := has[agent.Paused](waiting, 1); held.Data["resetsAt"] != limit.Until.UTC().Format(time.RFC3339) {
			t.Errorf("held = %+v", held)
		}
		e.agent.refuses(nil)
		waiting.completes()
		if time.Now().Before(limit.Until) || e.agent.probed() != 1 || e.agent.asked("j3") != 1 {
			t.Errorf("at %s, after %d probes and %d turns", time.Now(), e.agent.probed(), e.agent.asked("j3"))
		}
	})
}

// TestRateLimitIsProbed where it does not say when it ends.
func TestRateLimitIsProbed(t *testing.T) {
	t.Parallel()
	simulated(t, probing(200*time.Millisecond), func(t *testing.T, e *rig) {
		e.agent.refuses(tooMany())
		e.submit("j1", "one").ends(agent.Failed, agent.FailLimit)
		var waiting []*witness
		for _, id := range []string{"j2", "j3", "j4", "j5", "j6"} {
			waiting = append(waiting, e.submit(id, id, patient))
		}
		for after, want := range map[time.Duration]int{1399 * time.Millisecond: 2, 1401 * time.Millisecond: 3} { // 0.2 s, 0.4 s, 0.8 s
			go func() {
				time.Sleep(after)
				if n := e.agent.probed(); n != want {
					t.Errorf("%d probes after %s, want %d", n, after, want)
				}
			}()
		}
		time.Sleep(1500 * time.Millisecond)
		e.agent.refuses(nil)
		for _, w := range waiting {
			w.completes()
		}
	})
}

// TestPromisedToWait has a job that was told to wait meet the limit once more.
func TestPromisedToWait(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) { // probes are let through
		e.agent.script("j1", play{refused(tooMany())})
		e.agent.script("j2", play{refused(tooMany())}, play{refused(tooMany())}, nil)
		e.submit("j1", "one").ends(agent.Failed, agent.FailLimit)
		w := e.submit("j2", "one", patient)
		has[agent.Paused](w, 1)
		w.completes()
		if n := e.agent.asked("j2"); n != 3 {
			t.Errorf("the agent was given it %d times, want 3", n)
		}
	})
}

// TestLimitOfThePast asks the model no more often when a limit is said to have ended
// that has not: a clock is wrong.
func TestLimitOfThePast(t *testing.T) {
	t.Parallel()
	simulated(t, probing(400*time.Millisecond), func(t *testing.T, e *rig) {
		e.agent.refuses(usageLimit(-time.Hour))
		began := time.Now()
		e.submit("j1", "one").ends(agent.Failed, agent.FailLimit)
		w := e.submit("j2", "two", patient)
		eventually(t, "two probes", func() bool { return e.agent.probed() == 2 })
		if since := time.Since(began); since < 1200*time.Millisecond { // 0.4 s, 0.8 s
			t.Errorf("two probes within %s", since)
		}
		e.agent.refuses(nil)
		w.completes()
	})
}

// TestLimitIsProbedForAMessage: while none waits the model is not asked whether a limit has ended.
func TestLimitIsProbedForAMessage(t *testing.T) {
	t.Parallel()
	simulated(t, nil, func(t *testing.T, e *rig) {
		e.agent.refuses(tooMany())
		e.submit("j1", "one").ends(agent.Failed, agent.FailLimit)
		time.Sleep(time.Hour)
		synctest.Wait()
		if n := e.agent.probed(); n != 0 {
			t.Errorf("%d probes", n)
		}
		e.agent.refuses(nil)
		e.submit("j2", "one").completes() // it may have ended: the message waits for the answer
		if n := e.agent.probed(); n != 1 {
			t.Errorf("%d probes for a message", n)
		}
	})
}
