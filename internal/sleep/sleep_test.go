package sleep_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if !sleep.For(t.Context(), time.Minute) || time.Since(start) != time.Minute {
			t.Errorf("waited %v", time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if sleep.For(ctx, time.Hour) || time.Since(start) != time.Minute+time.Second {
			t.Errorf("not cut short: %v", time.Since(start))
		}
	})
}
