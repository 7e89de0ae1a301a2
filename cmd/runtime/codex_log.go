package main

import (
	"context"
	"log/slog"
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

// trimLog keeps the log of codex within bounds, also while codex runs. It returns when
// ctx ends. threads are those of this runtime's conversations: in a home that is
// shared with others, their logs are theirs. Which threads subagents had is known only
// while they work, so their rows stay until codex deletes them.
func trimLog(ctx context.Context, home codexHome, threads func(context.Context) ([]string, error), log *slog.Logger) {
	tick := time.NewTicker(trimEvery)
	defer tick.Stop()
	failing := false
	for {
		once, cancel := context.WithTimeout(ctx, trimTimeout)
		deleted, err := asuser.Value(home.user, func() (int64, error) {
			return codexlog.Trim(once, home.dir, logBounds(), threads)
		})
		cancel()
		switch {
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
