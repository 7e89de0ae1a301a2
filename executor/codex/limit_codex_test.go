package codex_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

func TestUsageLimitPausesTheQueue(t *testing.T) {
	t.Parallel() // it mostly waits
	e, model, d := onDoor(t, func(t *fakemodel.Turn) { t.UsageLimit(12 * time.Second) }, nil)
	hit := submit(t, e, "j1", "one", "say one").wait(t)
	wantEnd(t, hit, agent.Failed, agent.FailLimit)
	f := hit.Failure
	if f.Limit != "5h" || time.Until(f.ResetsAt) > 13*time.Second || time.Until(f.ResetsAt) < 0 || !strings.Contains(f.Message, f.ResetsAt.UTC().Format(time.RFC3339)) {
		t.Errorf("failure = %+v, want the limit and its end", f)
	}
	// Who waits is told at once, who does not waits in the queue.
	wantEnd(t, submit(t, e, "j2", "two", "say two").wait(t), agent.Failed, agent.FailLimit)
	patient := submitPatient(t, e, "j3", "two", "say three")
	if held := heldWith(t, patient); held.Kind != agent.FailLimit || held.Data["resetsAt"] != f.ResetsAt.UTC().Format(time.RFC3339) {
		t.Errorf("held = %+v", held)
	}
	d.shut.Store(false)
	if n := len(model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
	if limits := e.Health().Limits; len(limits) != 1 || limits[0].Name != "5h" || limits[0].UsedPercent != 100 {
		t.Errorf("limits = %+v", limits)
	}
	if got := said(patient.wait(t)); !strings.Contains(got, "three") || time.Now().Before(f.ResetsAt) {
		t.Errorf("at %s it says %q", time.Now(), got)
	}
}

// TestWaitingSendersAreTold has messages wait behind the one that meets a long
// limit: senders who stand and wait are not left to, also behind one who does not.
func TestWaitingSendersAreTold(t *testing.T) {
	t.Parallel()
	e, model, _ := onDoor(t, func(t *fakemodel.Turn) {
		time.Sleep(300 * time.Millisecond)
		t.UsageLimit(time.Hour)
	}, nil)
	first, patient, last := submit(t, e, "j1", "one", "say one"), submitPatient(t, e, "j2", "one", "say two"), submit(t, e, "j3", "one", "say three")
	for _, w := range []*witness{first, last} {
		wantEnd(t, w.wait(t), agent.Failed, agent.FailLimit)
	}
	heldWith(t, patient)
	if n := len(model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
}

// TestRateLimitIsProbed has a 429 that does not say when it ends.
func TestRateLimitIsProbed(t *testing.T) {
	t.Parallel() // it mostly waits
	e, model, d := onDoor(t, tooMany, nil)
	wantEnd(t, submit(t, e, "j1", "one", "say one").wait(t), agent.Failed, agent.FailLimit)
	var waiting []*witness
	for _, id := range []string{"j2", "j3", "j4", "j5", "j6"} {
		waiting = append(waiting, submitPatient(t, e, id, id, "say "+id))
	}
	eventually(t, "three probes", func() bool { return threadsOf(model) >= 4 })
	if since := time.Since(startOfHold(e)); since < 1400*time.Millisecond { // 0.2 s, 0.4 s, 0.8 s
		t.Errorf("three probes within %s", since)
	}
	d.shut.Store(false)
	for _, w := range waiting {
		if end := w.wait(t); end.Outcome != agent.Completed {
			t.Errorf("end = %+v (%v)", end, end.Failure)
		}
	}
}

// TestShortRateLimitCostsNothing has codex wait out a limit that ends soon.
func TestShortRateLimitCostsNothing(t *testing.T) {
	t.Parallel() // it mostly waits
	var calls atomic.Int32
	e, _, _ := onDoor(t, func(turn *fakemodel.Turn) {
		if calls.Add(1) > 2 {
			fakemodel.Keywords(turn)
			return
		}
		turn.FailWith(http.StatusTooManyRequests, http.Header{"Retry-After": {"1"}}, `{"error":{"message":"slow down"}}`)
	}, nil)
	if end := submit(t, e, "j1", "one", "say one").wait(t); end.Outcome != agent.Completed {
		t.Errorf("end = %+v (%v)", end, end.Failure)
	}
}

// TestLongRateLimitFailsSoon has codex told to come back in an hour.
func TestLongRateLimitFailsSoon(t *testing.T) {
	t.Parallel() // it mostly waits
	e, model, _ := onDoor(t, func(turn *fakemodel.Turn) {
		turn.FailWith(http.StatusTooManyRequests, http.Header{"Retry-After": {"3600"}}, `{"error":{"message":"slow down"}}`)
	}, func(c *config) { c.LimitProbe = time.Hour })
	began := time.Now()
	wantEnd(t, submit(t, e, "j1", "one", "say one").wait(t), agent.Failed, agent.FailLimit)
	if took, n := time.Since(began), len(model.Requests()); took > 20*time.Second || n != 1 {
		t.Errorf("it took %s and %d requests", took, n)
	}
}

func TestRateLimitInTheStreamNamesItsEnd(t *testing.T) {
	e, _, _ := onDoor(t, func(turn *fakemodel.Turn) {
		turn.FailStream("rate_limit_exceeded", "Rate limit reached for gpt. Please try again in 31.054s.")
	}, nil)
	began := time.Now()
	end := submit(t, e, "j1", "one", "say one").wait(t)
	wantEnd(t, end, agent.Failed, agent.FailLimit)
	if left := end.Failure.ResetsAt.Sub(began); left < 30*time.Second || left > 50*time.Second || time.Since(began) > 20*time.Second {
		t.Errorf("failure = %+v after %s", end.Failure, time.Since(began))
	}
}

// TestPromisedToWait has a job that was told to wait meet the limit once more.
func TestPromisedToWait(t *testing.T) {
	t.Parallel() // it mostly waits
	var turns atomic.Int32
	e, _, _ := onDoor(t, func(turn *fakemodel.Turn) {
		if strings.Contains(turn.LastUserText(), "the word OK") {
			fakemodel.Keywords(turn) // probes are let through
			return
		}
		if turns.Add(1) <= 3 {
			tooMany(turn)
			return
		}
		fakemodel.Keywords(turn)
	}, nil)
	wantEnd(t, submit(t, e, "j1", "one", "say one").wait(t), agent.Failed, agent.FailLimit)
	w := submitPatient(t, e, "j2", "one", "say two")
	heldWith(t, w)
	wantEnd(t, w.wait(t), agent.Completed, "")
}

// TestLimitOfThePast asks the model no more often when a limit is said to have ended
// that has not: somebody's clock is wrong.
func TestLimitOfThePast(t *testing.T) {
	t.Parallel() // it mostly waits
	e, model, d := onDoor(t, func(turn *fakemodel.Turn) { turn.UsageLimit(-time.Hour) }, func(c *config) {
		c.LimitProbe = 400 * time.Millisecond
	})
	end := submit(t, e, "j1", "one", "say one").wait(t)
	wantEnd(t, end, agent.Failed, agent.FailLimit)
	if !end.Failure.ResetsAt.IsZero() || e.Held() == "" {
		t.Errorf("failure = %+v, held %q", end.Failure, e.Held())
	}
	w := submitPatient(t, e, "j2", "two", "say two")
	eventually(t, "two probes", func() bool { return threadsOf(model) >= 3 })
	if since := time.Since(startOfHold(e)); since < 1200*time.Millisecond { // 0.4 s, 0.8 s
		t.Errorf("two probes within %s", since)
	}
	d.shut.Store(false)
	wantEnd(t, w.wait(t), agent.Completed, "")
}

// threadsOf counts the threads that have asked the model: that of a turn, and one for each
// probe. Codex may ask several times for each, before it is stopped.
func threadsOf(model *modeltest.Model) int {
	threads := map[string]bool{}
	for _, r := range model.Requests() {
		var of struct {
			Key string `json:"prompt_cache_key"`
		}
		_ = json.Unmarshal(r.Body, &of)
		threads[of.Key] = true
	}
	return len(threads)
}

func startOfHold(e *rig) time.Time {
	if h := e.Health().Hold; h != nil {
		return h.Since
	}
	return time.Time{}
}
