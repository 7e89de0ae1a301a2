// Package codexlog keeps the log that codex writes into a database of its home within
// bounds. codex writes down what it does at every level, some 40 KB for each thread,
// without a setting that stops it, and deletes rows only when it starts, after ten days
// (seen on 0.169.0).
//
// codex may run meanwhile, and so may others on the same home: the rows are deleted as any
// other client of the database would do it, a few at a time, and only those of threads
// that the caller names.
//
// A database has its reader run what its writer has put there (views, triggers, indexes on
// expressions), and where codex's user owns the home, commands write it. So it is opened in a
// process of its own, with a limit of memory, which is killed when its time is over: see
// [Trimmer] and [Work].
package codexlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// Bounds says when a log is too large, and what is left of it then.
type Bounds struct {
	Bytes int64 // of the database and what is not checkpointed yet; up to here nothing is done
	Rows  int64 // that stay: the newest
}

// A Trimmer cuts the log in a home short. Its fields are set before it is used.
type Trimmer struct {
	Home string
	User *asuser.User // whose the home is; nil is ours
	Bounds
	// Threads returns those whose rows may go. It is asked only where the log is too large.
	Threads func(context.Context) ([]string, error)
	// Program and Args start the process that does it: with two arguments more, for the path
	// and for the rows that stay, it calls [Work].
	Program string
	Args    []string

	running sync.Mutex // held while a process of ours is there
}

// Trim deletes the oldest rows of the threads if the log is larger than its bounds, and gives
// their room back to the disk. A home without a log is fine. When ctx ends, the process is
// killed, and the rest is left for the next time.
func (t *Trimmer) Trim(ctx context.Context) (deleted int64, err error) {
	path, err := asuser.Value(t.User, t.tooLarge)
	if err != nil || path == "" {
		return 0, err
	}
	ids, err := t.Threads(ctx)
	if err != nil {
		return 0, err
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return 0, err
	}
	deleted, err = t.start(ctx, path, list)
	if err != nil {
		return deleted, fmt.Errorf("codex's log %s: %w", path, err)
	}
	return deleted, nil
}

// mostLogs is how many logs a home may have: codex leaves those of earlier versions.
const mostLogs = 1000

// tooLarge returns the newest log of the home, if it is too large.
func (t *Trimmer) tooLarge() (path string, err error) {
	names, err := regular.Names(t.Home, mostLogs, func(name string) bool {
		return strings.HasPrefix(name, "logs_") && strings.HasSuffix(name, ".sqlite")
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for codex's log: %w", err)
	}
	if len(names) == 0 {
		return "", nil
	}
	path = filepath.Join(t.Home, names[len(names)-1]) // in order: the last one is that of the newest codex
	if sizeOf(path)+sizeOf(path+"-wal") <= t.Bytes {
		return "", nil
	}
	return path, nil
}

func sizeOf(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}
