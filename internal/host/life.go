// Package host has a runtime live: it is built by the settings, recovers, serves, drains and is closed. What a runtime stands
// on, however its messages come, is here; packages serve and inbox build the two kinds that there are.
package host

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// drainLimit is what running turns get to be interrupted when the program is told to stop; streams then get the rest of
// the server's own grace.
const drainLimit = 6 * time.Second

// headStart is how long the runtime serves before its other work begins. Codex and the checks start processes, which
// take all cores: a request that comes at once is answered a third sooner when it need not wait for them, and
// the runtime is ready no later.
const headStart = 2 * time.Millisecond

// A Runtime is a program of parts that has been built. Nothing of it has begun.
type Runtime interface {
	// Recover goes on with what an earlier life has left. It sets turns going.
	Recover(ctx context.Context) error
	// Serve takes messages until ctx ends, or until there is nothing left to do.
	Serve(ctx context.Context) error
}

// Live builds a runtime and has it recover and serve, until ctx ends, Serve returns, or a part fails for good. It returns
// when all of the runtime is gone: no listener, no turn, no child.
func Live(ctx context.Context, log *slog.Logger, build func(context.Context, *Life) (Runtime, error)) error {
	life := &Life{log: log}
	defer life.close()
	runtime, err := build(ctx, life)
	if err == nil {
		err = runtime.Recover(ctx)
	}
	if err != nil {
		return errors.Join(err, life.drain(ctx))
	}
	return life.serve(ctx, runtime)
}

// A Life has what the parts of a runtime need done for them while it lives. Who builds a part says so here, at once.
type Life struct {
	log    *slog.Logger
	runs   []func(context.Context) error
	drains []func(context.Context) error
	opened []io.Closer
}

// Goes has something go on while the runtime serves, from headStart on. It returns when its context ends; an error ends the runtime.
func (l *Life) Goes(run func(context.Context) error) { l.runs = append(l.runs, run) }

// GoesOn is [Life.Goes] for what cannot fail for good.
func (l *Life) GoesOn(run func(context.Context)) {
	l.Goes(func(ctx context.Context) error {
		run(ctx)
		return nil
	})
}

// Drains has turns and tasks ended while the server still serves, so that every open stream gets its last event. What
// was said first is ended first: turns before the tasks that they belong to.
func (l *Life) Drains(end func(context.Context) error) { l.drains = append(l.drains, end) }

// Opened has a part closed at the end, after all parts that were opened later.
func (l *Life) Opened(part io.Closer) { l.opened = append(l.opened, part) }

// serve runs all that goes on. Turns are interrupted while the server drains.
func (l *Life) serve(ctx context.Context, runtime Runtime) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer leave()
		return runtime.Serve(ctx)
	})
	sleep.For(ctx, headStart)
	for _, run := range l.runs {
		group.Go(func() error { return run(ctx) })
	}
	group.Go(func() error {
		<-ctx.Done()
		return l.drain(ctx)
	})
	return group.Wait()
}

func (l *Life) drain(ctx context.Context) error {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainLimit)
	defer cancel()
	var err error
	for _, end := range l.drains {
		err = errors.Join(err, end(grace))
	}
	return err
}

// close closes what was opened, in the reverse order.
func (l *Life) close() {
	for _, part := range slices.Backward(l.opened) {
		if err := part.Close(); err != nil {
			l.log.Error("closing failed", "err", err)
		}
	}
}
