package control

import (
	"context"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

const (
	yieldPath = "/yield"
	// yieldWithin is how long the state is waited for that was asked for.
	yieldWithin = 10 * time.Second
	lookEach    = 20 * time.Millisecond
)

// Relieve has a process that keeps an inbox and gives it up ([Yielder]) do so, and waits until it has. Any other keeps
// it, and opening the state says so.
func Relieve(ctx context.Context, dir string) {
	status, _, err := Ask(ctx, dir, http.MethodPost, yieldPath)
	if err != nil || status != http.StatusAccepted {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, yieldWithin)
	defer cancel()
	for {
		if in, err := store.Inspect(dir); err != nil || in.Holder == nil || !sleep.For(ctx, lookEach) {
			return
		}
	}
}
