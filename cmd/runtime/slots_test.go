package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/console"
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
		if told := strings.Contains(check.Message, "no other turn has begun"); told != c.long || fullSince(c.slots).IsZero() == c.long {
			t.Errorf("%s: %+v, since %s", name, check, fullSince(c.slots))
		}
		if asks := strings.Contains(check.Message, "RUNTIME_MAX_QUESTIONS"); asks != (c.slots.Asking > 0) {
			t.Errorf("%s: %+v", name, check)
		}
	}
}

// TestQueueOf: turns that ask are one number, whether they hold a slot or not, and since
// when no other turn has begun is said where that is long ago.
func TestQueueOf(t *testing.T) {
	long, now := time.Now().Add(-fullLong), time.Now()
	for name, c := range map[string]struct {
		slots executor.Slots
		want  console.Queue
	}{
		"a free one":    {executor.Slots{Limit: 4, Working: 1, Parked: 2, Returning: 1}, console.Queue{Running: 1, Waiting: 3, Limit: 4, Asking: 2}},
		"a busy moment": {executor.Slots{Limit: 4, Working: 4, Full: now}, console.Queue{Running: 4, Waiting: 3, Limit: 4}},
		"long turns":    {executor.Slots{Limit: 4, Working: 4, Full: long}, console.Queue{Running: 4, Waiting: 3, Limit: 4, FullSince: long}},
		"questions":     {executor.Slots{Limit: 4, Working: 1, Asking: 3, Parked: 64, Full: long}, console.Queue{Running: 1, Waiting: 3, Limit: 4, Asking: 67, FullSince: long}},
	} {
		if diff := cmp.Diff(c.want, queueOf(executor.Health{Waiting: 3, Slots: c.slots})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
