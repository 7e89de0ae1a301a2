package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

// A hold is the right to change a branch and its tree, or what all branches share. It is a lock on a file (flock),
// which each git that works under it inherits: it lasts until the last of them has ended, also where we were killed
// before.
type hold struct {
	name string // of the branch; empty for what all share
	file *os.File
	end  func()
}

func (h *hold) free() {
	_ = h.file.Close() // nothing was written to it
	h.end()
}

// queues has those of this process wait for each other, by name.
type queues struct {
	mu sync.Mutex
	of map[string]*queue
}

type queue struct {
	turn chan struct{} // has room for the one whose turn it is
	in   int           // how many wait or have their turn
}

// enter waits for a turn, and returns what ends it.
func (q *queues) enter(ctx context.Context, name string) (leave func(), err error) {
	q.mu.Lock()
	if q.of == nil {
		q.of = map[string]*queue{}
	}
	mine := q.of[name]
	if mine == nil {
		mine = &queue{turn: make(chan struct{}, 1)}
		q.of[name] = mine
	}
	mine.in++
	q.mu.Unlock()
	out := func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if mine.in--; mine.in == 0 {
			delete(q.of, name)
		}
	}
	select {
	case mine.turn <- struct{}{}:
		return func() { <-mine.turn; out() }, nil
	case <-ctx.Done():
		out()
		return nil, context.Cause(ctx)
	}
}

// lookAgain is how often a lock of another process is tried again.
const lookAgain = 20 * time.Millisecond

// acquire waits for a hold: at first for those of this process, then for the git processes of an earlier one.
func (q *queues) acquire(ctx context.Context, user *asuser.User, path, name string) (*hold, error) {
	leave, err := q.enter(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("wait for other work on %s: %w", path, err)
	}
	for {
		file, err := tryFile(user, path)
		if err == nil {
			return &hold{name: name, file: file, end: leave}, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			leave()
			return nil, err
		}
		if !sleep.For(ctx, lookAgain) {
			leave()
			return nil, fmt.Errorf("a git that was started earlier still runs (%s): %w", path, context.Cause(ctx))
		}
	}
}

// tryFile locks a file, which is made if it is not there; EWOULDBLOCK says that another process has it.
func tryFile(user *asuser.User, path string) (*os.File, error) {
	return asuser.Value(user, func() (*os.File, error) {
		for {
			file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
			if errors.Is(err, os.ErrNotExist) {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					return nil, err
				}
				continue
			}
			if err != nil {
				return nil, err
			}
			if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
				_ = file.Close()
				return nil, err
			}
			if stands(file, path) {
				return file, nil
			}
			_ = file.Close() // it was removed before it was ours
		}
	})
}

// stands reports whether a path still leads to a file that is open.
func stands(file *os.File, path string) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, there)
}
