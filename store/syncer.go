package store

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// A syncer brings commits to the disk, beside the writer: the writer goes on
// while it waits for the disk, and one sync serves all commits before it. It
// syncs the log through a descriptor of its own; SQLite has no locks on the log.
type syncer struct {
	path string // of the log
	log  *slog.Logger
	wake chan struct{} // holds a token when a sync is wanted
	done chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex // guards the fields below
	commits uint64     // so many there are
	wanted  uint64     // up to this one, commits are to be on the disk
	synced  uint64     // up to this one, they are
	failed  error      // of the last sync
	changed chan struct{}
	closed  bool
	lazy    *time.Timer // of the next sync that nobody asked for; nil if everything is on the disk
}

// soon is when commits that nobody wants to be synced are synced all the same.
const soon = time.Second

func newSyncer(path string, log *slog.Logger) *syncer {
	return &syncer{path: path, log: log, wake: make(chan struct{}, 1), done: make(chan struct{}), changed: make(chan struct{})}
}

// committed counts a commit and has it synced: at once if it is to be durable,
// else a little later. Each sync makes everybody wait who writes to the same
// disk, codex above all.
func (s *syncer) committed(level durability) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commits++
	switch {
	case level >= durable:
		s.wantLocked()
	case s.lazy == nil && !s.closed:
		s.lazy = time.AfterFunc(soon, func() { s.all() })
	}
}

// wantLocked asks for everything to be synced.
func (s *syncer) wantLocked() {
	s.wanted = s.commits
	if s.lazy != nil {
		s.lazy.Stop()
		s.lazy = nil
	}
	if s.closed {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// all has everything synced and returns the number of commits, for wait.
func (s *syncer) all() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.synced < s.commits {
		s.failed = nil // of an earlier try; this is another
		s.wantLocked()
	}
	return s.commits
}

// wait returns when the first n commits are on the disk.
func (s *syncer) wait(ctx context.Context, n uint64) error {
	for {
		s.mu.Lock()
		synced, failed, changed := s.synced, s.failed, s.changed
		s.mu.Unlock()
		switch {
		case synced >= n:
			return nil
		case failed != nil:
			return failed
		}
		select {
		case <-changed:
		case <-s.done:
			return ErrClosed
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// run is the goroutine. It ends with close, after a last sync if one is wanted.
func (s *syncer) run() {
	defer close(s.done)
	var log *os.File
	defer func() {
		if log != nil {
			_ = log.Close()
		}
	}()
	for range s.wake {
		s.mu.Lock()
		n, due := s.wanted, s.wanted > s.synced || s.failed != nil
		s.mu.Unlock()
		if due {
			var err error
			if log == nil {
				log, err = os.Open(s.path)
			}
			if err == nil {
				err = log.Sync()
			}
			s.settle(n, err)
		}
	}
}

// settle tells everybody who waits how a sync of the first n commits went.
func (s *syncer) settle(n uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = nil
	if err != nil {
		s.failed = fmt.Errorf("sync %s: %w", s.path, err)
		s.log.Error("the log of the database cannot be brought to the disk: what was accepted last may be lost with the machine; look at the disk",
			"path", s.path, "err", err)
	} else {
		s.synced = max(s.synced, n)
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// close ends the goroutine and waits for it.
func (s *syncer) close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.wake)
		if s.lazy != nil {
			s.lazy.Stop()
		}
	}
	s.mu.Unlock()
	<-s.done
}
