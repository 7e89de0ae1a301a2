package codexlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestKeep looks at the log at once and each minute, says once that it fails, and ends
// with its context.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var said bytes.Buffer
		var tries atomic.Int32 // time alone brings the next round, and tells the race detector of no order
		trim := func(ctx context.Context) (int64, error) {
			if until, limited := ctx.Deadline(); !limited || time.Until(until) > trimTimeout {
				t.Errorf("it may take until %v", until)
			}
			if tries.Add(1) < 3 {
				return 0, errors.New("the state is busy")
			}
			return 1, nil
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			keep(ctx, trim, slog.New(slog.NewTextHandler(&said, nil)))
		}()
		for i := 1; i <= 3; i++ {
			synctest.Wait()
			if n := int(tries.Load()); n != i {
				t.Fatalf("tried %d times, want %d", n, i)
			}
			if n := strings.Count(said.String(), "the state is busy"); n != 1 {
				t.Errorf("after %d rounds the failure was said %d times: %s", i, n, &said)
			}
			if i < 3 {
				time.Sleep(trimEvery)
			}
		}
		stop()
		<-ended
	})
}

// TestKeepIsNotRun: where codex's user may not run this program, that is said once.
func TestKeepIsNotRun(t *testing.T) {
	var said bytes.Buffer
	keep(t.Context(), func(context.Context) (int64, error) {
		return 0, fmt.Errorf("codex's log: %w", ErrNotRun)
	}, slog.New(slog.NewTextHandler(&said, nil)))
	if n := strings.Count(said.String(), "give its file the mode 0755"); n != 1 {
		t.Errorf("said %d times: %s", n, &said)
	}
}
