// Package insist tries again what has to work in the end: the journal here, and by its delays the start of a child.
package insist

import (
	"context"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// The delays between a failure and the next try.
const (
	First = 250 * time.Millisecond
	Most  = 30 * time.Second
)

// BackOff returns the delays between tries.
func BackOff() *backoff.ExponentialBackOff {
	delay := &backoff.ExponentialBackOff{InitialInterval: First, MaxInterval: Most, Multiplier: 2, RandomizationFactor: 0.2}
	delay.Reset()
	return delay
}

// Until does something with the journal until it works, telling once that it does
// not. It returns the cause of ctx if that ends first.
func Until(ctx context.Context, log *slog.Logger, what string, try func(context.Context) error, tell func()) error {
	delay := BackOff()
	for told := false; ; told = true {
		err := try(ctx)
		if err == nil {
			return nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if !told {
			tell()
		}
		log.Error("the journal does not work and is tried again", "what", what, "err", err)
		if !sleep.For(ctx, delay.NextBackOff()) {
			return context.Cause(ctx)
		}
	}
}
