package readiness

import (
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// TestTurnsCheck tells people of slots that have been taken for long, and of what by.
func TestTurnsCheck(t *testing.T) {
	long, now := time.Now().Add(-fullLong), time.Now()
	for name, c := range map[string]struct {
		slots executor.Slots
		want  string
		long  bool
	}{
		"a free one":    {executor.Slots{Limit: 4, Working: 1, Parked: 2}, "1 of 4 run, 2 wait for answers, 3 messages wait", false},
		"a busy moment": {executor.Slots{Limit: 4, Working: 4, Full: now}, "4 of 4 run, 0 wait for answers, 3 messages wait", false},
		"long turns":    {executor.Slots{Limit: 4, Working: 4, Full: long}, "RUNTIME_MAX_TURNS", true},
		"questions":     {executor.Slots{Limit: 4, Asking: 4, Parked: 64, Full: long}, "0 of 4 run, 68 wait for answers, 3 messages wait; no other turn has begun since", true},
	} {
		check := turnsCheck(executor.Health{Waiting: 3, Slots: c.slots})
		if !check.OK || !strings.Contains(check.Message, c.want) {
			t.Errorf("%s: %+v", name, check)
		}
		if told := strings.Contains(check.Message, "no other turn has begun"); told != c.long || FullSince(c.slots).IsZero() == c.long {
			t.Errorf("%s: %+v, since %s", name, check, FullSince(c.slots))
		}
		if asks := strings.Contains(check.Message, "RUNTIME_MAX_QUESTIONS"); asks != (c.slots.Asking > 0) {
			t.Errorf("%s: %+v", name, check)
		}
	}
}

func TestOnlyALoginMakesUsUnready(t *testing.T) {
	until := time.Date(2026, 11, 21, 17, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		hold  *executor.Hold
		ok    bool
		words string
	}{
		{nil, true, "nothing"},
		{&executor.Hold{Kind: agent.FailAuth, Reason: "expired"}, false, "expired; the answer to a message"},
		{&executor.Hold{Kind: agent.FailLimit, Limit: "5h", Until: until}, true, "(5h) is reached, messages wait until 2026-11-21T17:00:00Z"},
		{&executor.Hold{Kind: agent.FailLimit, Limit: "rate"}, true, "messages wait"},
	} {
		if got := modelCheck(c.hold); got.OK != c.ok || !strings.Contains(got.Message, c.words) {
			t.Errorf("%+v: %+v", c.hold, got)
		}
	}
}
