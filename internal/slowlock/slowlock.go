// Package slowlock has locks that are held over what takes its time, as a commit does. They are semaphores and
// no mutexes: in simulated time (testing/synctest) a caller that waits for one waits, and time goes on. They are
// taken in the order in which they were asked for.
package slowlock

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// A Lock is held by one at a time. Create it with [New].
type Lock struct{ w *semaphore.Weighted }

// New returns a lock that is free.
func New() Lock { return Lock{semaphore.NewWeighted(1)} }

// Lock waits until the lock is free, and takes it.
func (l Lock) Lock() { acquire(l.w, 1) }

// Unlock frees it.
func (l Lock) Unlock() { l.w.Release(1) }

// A Shared is held by several together, or by one alone, who keeps all others waiting.
// Create it with [NewShared].
type Shared struct{ w *semaphore.Weighted }

// most bounds those that hold a lock together; further ones wait.
const most = 1 << 20

// NewShared returns a lock that is free.
func NewShared() Shared { return Shared{semaphore.NewWeighted(most)} }

// RLock takes the lock together with others.
func (s Shared) RLock() { acquire(s.w, 1) }

// RUnlock undoes RLock.
func (s Shared) RUnlock() { s.w.Release(1) }

// Lock takes the lock alone.
func (s Shared) Lock() { acquire(s.w, most) }

// Unlock undoes Lock.
func (s Shared) Unlock() { s.w.Release(most) }

func acquire(w *semaphore.Weighted, n int64) {
	_ = w.Acquire(context.Background(), n) // it fails with its context alone
}
