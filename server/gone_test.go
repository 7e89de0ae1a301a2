package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
)

// TestCallerHasGone: a call that ended with its connection is no failure of ours.
func TestCallerHasGone(t *testing.T) {
	g := &guard.Guard{Log: slog.New(slog.DiscardHandler)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx       context.Context //nolint:containedctx // a case
		err, want error
	}{
		{ctx, fmt.Errorf("list tasks: %w", ctx.Err()), a2a.ErrInvalidRequest},
		{ctx, errors.New("disk"), a2a.ErrInternalError},
		{t.Context(), context.Canceled, a2a.ErrInternalError},
	} {
		if got := g.Public(c.ctx, "ListTasks", c.err); !errors.Is(got, c.want) {
			t.Errorf("%v is told as %v, want %v", c.err, got, c.want)
		}
	}
}
