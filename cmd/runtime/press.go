package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

type quitKey struct{}

// quitOf is closed when whoever watches wants what runs to come to its end, and nothing
// new to begin; nil where nobody can want that.
func quitOf(ctx context.Context) <-chan struct{} {
	quit, _ := ctx.Value(quitKey{}).(chan struct{})
	return quit
}

// untilQuit is the context of what a first SIGINT ends, too.
func untilQuit(ctx context.Context) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-quitOf(ctx):
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel()
		<-ended
	}
}

// patient is [interruptible] for what may take long to come to its end: the first SIGINT
// closes what quitOf returns, the second ends the context, the third calls exit. SIGTERM
// is for those who wait for nothing: it ends the context, and calls exit the second time.
func patient(parent context.Context, exit func(int)) (_ context.Context, release func()) {
	return pressed(parent, exit, func(sig os.Signal) bool { return sig != os.Interrupt })
}

// draining is [patient] for what others have stopped, too, and have it wait: a first SIGTERM is a first SIGINT.
func draining(parent context.Context, exit func(int)) (_ context.Context, release func()) {
	return pressed(parent, exit, func(os.Signal) bool { return false })
}

// pressed counts signals. One that is urgent is the second at least.
func pressed(parent context.Context, exit func(int), urgent func(os.Signal) bool) (_ context.Context, release func()) {
	quit := make(chan struct{})
	ctx, cancel := context.WithCancel(context.WithValue(parent, quitKey{}, quit))
	signals := make(chan os.Signal, 3) // room for all
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for pressed := 0; ; {
			select {
			case sig := <-signals:
				if pressed++; urgent(sig) {
					pressed = max(pressed, 2)
				}
			case <-done:
				return
			}
			switch pressed {
			case 1:
				close(quit)
			case 2:
				cancel()
			default:
				exit(exitInterrupted)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		<-ended
		cancel()
	}
}
