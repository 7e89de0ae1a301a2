package codexlog

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// The log of codex in CODEX_HOME grows by some 40 KB with each thread. What is kept is of
// use to those who report a fault of codex.
const (
	trimEvery   = time.Minute
	trimTimeout = 30 * time.Second
)

// Command is the command of this program that a [Trimmer] starts. It calls [Work].
const Command = "trim-log"

// Keep keeps the log of a codex home within bounds, also while codex runs, until ctx ends. The
// home is user's; nil is ours. threads are those of this runtime's conversations: in a home that
// is shared with others, their logs are theirs. Which threads subagents had is known only while
// they work, so their rows stay until codex deletes them.
func Keep(ctx context.Context, home string, user *asuser.User, threads func(context.Context) ([]string, error), log *slog.Logger) {
	program, err := self()
	if err != nil {
		log.Warn("the log that codex keeps in CODEX_HOME is not cut short: this program cannot find itself", "err", err)
		return
	}
	bounds := Bounds{Bytes: 64 << 20, Rows: 10_000}
	trimmer := &Trimmer{Home: home, User: user, Bounds: bounds, Threads: threads, Program: program, Args: []string{Command}}
	keep(ctx, trimmer.Trim, log)
}

// self is this program. On Linux it is the one that runs, whatever stands at its path by now,
// and also where codex's user may not enter the folders on the way there.
func self() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// keep trims at once, and then from time to time.
func keep(ctx context.Context, trim func(context.Context) (int64, error), log *slog.Logger) {
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	failing := false
	for {
		once, cancel := context.WithTimeout(ctx, trimTimeout)
		deleted, err := trim(once)
		cancel()
		switch {
		case errors.Is(err, ErrNotRun):
			log.Warn("the log that codex keeps in CODEX_HOME is not cut short: codex's user cannot run this program; give its file the mode 0755 and start the runtime anew", "err", err)
			return
		case err != nil && ctx.Err() == nil && !failing:
			log.Warn("the log that codex keeps in CODEX_HOME could not be cut short; this is tried again each minute", "err", err)
		case deleted > 0:
			log.Debug("the log that codex keeps in CODEX_HOME was cut short", "rows", deleted)
		}
		failing = err != nil
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
