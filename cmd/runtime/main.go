// Command runtime makes the Codex CLI an agent that speaks A2A: it owns one
// codex app-server and turns each message that comes over HTTP into a turn on
// the right codex thread. runtime --help says how it is used.
//
// This package has the commands and their flags, and what they print. What they run is
// built in internal/host.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/memlimit"
)

func main() {
	tuneCores()
	limitMemory()
	command := ""
	if len(os.Args) > 1 {
		command = os.Args[1]
	}
	watch := interruptible
	switch command {
	case "channel", "task":
		watch = patient
	case "machine":
		watch = draining
	}
	if command != "channel" { // its first byte is not waited for: memory is worth more than time
		tuneMemory()
	}
	ctx, release := watch(context.Background(), os.Exit)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr)
	release()
	os.Exit(code)
}

// tuneMemory lets the heap, of a few MiB, grow further between two collections:
// on a small machine they stand in the way of a turn. GOGC says otherwise where it
// is set, and near the limit of memory the heap grows no further.
func tuneMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(600)
	}
}

// limitMemory keeps the collector from leaving room for what was large once. It is a soft
// limit: nothing is refused for it. GOMEMLIMIT says otherwise where it is set.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memlimit.Of("/"))
	}
}

// tuneCores leaves half of the cores to codex and its commands: a turn goes from
// one to the other all the time, and a goroutine that wakes on a core of its own
// takes that from a codex that would run there. GOMAXPROCS says otherwise where it
// is set.
func tuneCores() {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(max(1, runtime.GOMAXPROCS(0)/2))
	}
}

// exitInterrupted is the status of a program that a second signal ended.
const exitInterrupted = 130

// interruptible returns a context that ends with the first SIGINT or SIGTERM,
// so that the program can stop in order. The second one calls exit at once.
// Release ends the watching and waits for it.
func interruptible(parent context.Context, exit func(int)) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2) // room for both
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for _, act := range []func(){cancel, func() { exit(exitInterrupted) }} {
			select {
			case <-signals:
				act()
			case <-done:
				return
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
