package store

import (
	"testing"
	"time"
)

// TestCommitsAreTimed: each is told once, and reads are none.
func TestCommitsAreTimed(t *testing.T) {
	commits, timed := 0, 0
	s := open(t, Config{Committed: func(int) { commits++ }, Timed: func(took time.Duration) {
		if timed++; took <= 0 {
			t.Errorf("a commit took %s", took)
		}
	}})
	if err := s.DropInboxCursor(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sizes(t.Context()); err != nil {
		t.Fatal(err)
	}
	if commits == 0 || timed != commits {
		t.Errorf("%d commits, %d timed", commits, timed)
	}
}
