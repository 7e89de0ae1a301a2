package readiness

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestPulse: strangers may ask for readiness, and each call is one of codex's work.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pulse
		var all, calls sync.WaitGroup
		made, dead := 0, errors.New("dead")
		ping := func(ctx context.Context) error {
			made++
			time.Sleep(100 * time.Millisecond)
			if made > 1 {
				return dead
			}
			return ctx.Err()
		}
		for round, want := range []error{nil, dead} {
			for range 1000 {
				all.Go(func() {
					if err := p.feel(t.Context(), calls.Go, ping); !errors.Is(err, want) {
						t.Errorf("round %d: %v", round, err)
					}
				})
			}
			all.Wait()
			if err := p.feel(t.Context(), calls.Go, ping); !errors.Is(err, want) || made != round+1 {
				t.Errorf("round %d: %v after %d calls", round, err, made)
			}
			time.Sleep(pulseLasts + time.Millisecond)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if err := p.feel(gone, calls.Go, ping); !errors.Is(err, context.Canceled) {
			t.Errorf("for one who has gone: %v", err)
		}
		calls.Wait()
	})
}
