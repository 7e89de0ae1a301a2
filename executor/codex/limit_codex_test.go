package codex_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
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
	longtest.Mark(t)
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

func startOfHold(e *rig) time.Time {
	if h := e.Health().Hold; h != nil {
		return h.Since
	}
	return time.Time{}
}
