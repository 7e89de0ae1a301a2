package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexlog"
)

// The log of codex in CODEX_HOME grows by some 40 KB with each thread. What is kept is of
// use to those who report a fault of codex.
const (
	trimEvery   = time.Minute
	trimTimeout = 30 * time.Second
)

// A codexHome is CODEX_HOME, and whose it is: nil is ours.
type codexHome struct {
	dir  string
	user *asuser.User
}

func logBounds() codexlog.Bounds { return codexlog.Bounds{Bytes: 64 << 20, Rows: 10_000} }

// keepLogShort keeps the log of codex within bounds, also while codex runs, until ctx ends.
// threads are those of this runtime's conversations: in a home that is shared with others,
// their logs are theirs. Which threads subagents had is known only while they work, so their
// rows stay until codex deletes them.
func keepLogShort(ctx context.Context, home codexHome, threads func(context.Context) ([]string, error), log *slog.Logger) {
	program, err := self()
	if err != nil {
		log.Warn("the log that codex keeps in CODEX_HOME is not cut short: this program cannot find itself", "err", err)
		return
	}
	trimmer := &codexlog.Trimmer{Home: home.dir, User: home.user, Bounds: logBounds(), Threads: threads, Program: program, Args: []string{trimCommand}}
	trimLog(ctx, trimmer.Trim, log)
}

// self is this program. On Linux it is the one that runs, whatever stands at its path by now,
// and also where codex's user may not enter the folders on the way there.
func self() (string, error) {
	if runtime.GOOS == "linux" {
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// trimLog trims at once, and then from time to time.
func trimLog(ctx context.Context, trim func(context.Context) (int64, error), log *slog.Logger) {
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	failing := false
	for {
		once, cancel := context.WithTimeout(ctx, trimTimeout)
		deleted, err := trim(once)
		cancel()
		switch {
		case errors.Is(err, codexlog.ErrNotRun):
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

// trimCommand is the command that [codexlog.Trimmer] starts.
const trimCommand = "trim-log"

type trimFlags struct {
	Path string `arg:"" help:"The log."`
	Keep int64  `arg:"" help:"How many rows stay."`
}

func (p *program) trimLog(ctx context.Context, flags trimFlags) int {
	return codexlog.Work(ctx, flags.Path, flags.Keep, p.stdin, p.stdout, p.stderr)
}
