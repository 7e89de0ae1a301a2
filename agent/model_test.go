package agent

import (
	"testing"
	"time"
)

func TestModelCalled(t *testing.T) {
	for status, want := range map[int]string{0: CallCut, 101: CallFailed, 200: CallOK, 302: CallFailed, 400: CallRefused, 429: CallRefused, 500: CallFailed} {
		if got := (ModelCalled{Status: status}).Outcome(); got != want {
			t.Errorf("%d is %s, want %s", status, got, want)
		}
	}
	written := ModelCalled{First: time.Second, Took: 3 * time.Second, Tokens: 10}
	for name, test := range map[string]struct {
		call ModelCalled
		rate float64
	}{
		"written": {written, 5},
		"unsaid":  {ModelCalled{First: time.Second, Took: 3 * time.Second}, 0},
		"silent":  {ModelCalled{Took: 3 * time.Second, Tokens: 10}, 0},
		"at-once": {ModelCalled{First: time.Second, Took: time.Second, Tokens: 10}, 0},
	} {
		if got := test.call.Rate(); got != test.rate {
			t.Errorf("%s: %v tokens a second, want %v", name, got, test.rate)
		}
	}
}
