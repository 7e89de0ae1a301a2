// Package slowlock has locks that are held over what takes its time, as a commit does. They are semaphores and
// no mutexes: in simulated time (testing/synctest) a caller that waits for one waits, and time goes on. They are
// taken in the order in which they were asked for. The zero values are free.
package slowlock

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// A Lock is held by one at a time.
type Lock struct{ of room }

// Lock waits until the lock is free, and takes it.
func (l *Lock) Lock() { l.of.take(most) }

// Unlock frees it.
func (l *Lock) Unlock() { l.of.give(most) }

// A Shared is held by several callers together, or by one alone. A caller that waits to have it alone keeps
// those waiting that come after it.
type Shared struct{ of room }

// RLock takes the lock together with others.
func (s *Shared) RLock() { s.of.take(1) }

// RUnlock undoes RLock.
func (s *Shared) RUnlock() { s.of.give(1) }

// Lock takes the lock alone.
func (s *Shared) Lock() { s.of.take(most) }

// Unlock undoes Lock.
func (s *Shared) Unlock() { s.of.give(most) }

// most bounds those that hold a lock together; further ones wait.
const most = 1 << 20

// A room has room for most.
type room struct {
	once sync.Once
	w    *semaphore.Weighted
}

func (r *room) take(n int64) {
	r.once.Do(func() { r.w = semaphore.NewWeighted(most) })
	_ = r.w.Acquire(context.Background(), n) // it fails with its context alone
}

func (r *room) give(n int64) { r.w.Release(n) }
