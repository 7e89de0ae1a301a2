package sources

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/console"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// TestQueueOf: turns that ask are one number, whether they hold a slot or not, and since
// when no other turn has begun is said where that is long ago.
func TestQueueOf(t *testing.T) {
	long, now := time.Now().Add(-10*time.Minute), time.Now()
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
