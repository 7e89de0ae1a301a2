package inquiry

import (
	"testing"
	"time"
)

// TestQuestionIsLate goes by the clock, as what is said of the question does, and not by time that passes.
func TestQuestionIsLate(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		deadline time.Time
		late     bool
	}{
		"none":  {time.Time{}, false},
		"later": {now.Add(time.Hour), false},
		"over":  {now.Add(-time.Second).Round(0), true},
	} {
		if got := (&Question{Deadline: c.deadline}).isLate(); got != c.late {
			t.Errorf("%s: %v", name, got)
		}
	}
}
