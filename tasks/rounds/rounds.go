// Package rounds has the loop of those who deliver what a journal keeps: look what is
// due, begin that, and look again when one has been made, when the next is due, or when
// there is something new. Everything that has to be remembered stands in the journal,
// so a process that is killed anywhere goes on where it was.
//
// # Ownership and concurrency
//
// [Rounds.Run] starts a goroutine for each delivery, one for each key at a time, and
// waits for all of them before it returns. What one of them has written, the next one
// sees. Wake may be called from anywhere.
package rounds

import (
	"context"
	"sync"
	"time"
)

const (
	// Retry is when to look again for what could not be read or noted: the journal is
	// to blame, and asking it at once does not help.
	Retry = time.Second
	// Idle is when to look again where nothing is known to become due: whoever has
	// something new wakes us.
	Idle = time.Hour
	// grace is what deliveries under way get when Run is stopped.
	grace = 2 * time.Second
)

// A Rounds is one such loop. Create it with [New].
type Rounds[K comparable] struct {
	most int
	wake chan struct{} // has room for one

	mu   sync.Mutex // guards busy
	busy map[K]bool // what is being delivered
}

// New returns a loop that makes so many deliveries at the same time. With one they are
// made in the order in which due lists them.
func New[K comparable](most int) *Rounds[K] {
	return &Rounds[K]{most: most, wake: make(chan struct{}, 1), busy: map[K]bool{}}
}

// Wake says that there is something new, or that it is due sooner. It never blocks.
func (r *Rounds[K]) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run makes deliveries until ctx ends, beginning with what an earlier process has left.
// due lists what is due, and says when to look again. deliver makes one: it asks whether
// that is still due, for a delivery may end while the list is made that names it again;
// when it returns an error nothing of it could be noted, and it comes again after a
// pause. Its context goes on for a moment behind ctx. Run may be called once.
func (r *Rounds[K]) Run(ctx context.Context, due func(context.Context) ([]K, time.Duration), deliver func(context.Context, K) error) {
	work, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cut) })
	defer stop()
	var group sync.WaitGroup
	defer group.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-timer.C:
		}
		keys, next := due(ctx)
		for _, key := range keys {
			if r.begin(key) {
				group.Go(func() { r.deliver(work, key, deliver) })
			}
		}
		timer.Reset(next)
	}
}

// begin reports whether there is room for a delivery that is not being made already.
// The end of each makes room, and wakes the next round.
func (r *Rounds[K]) begin(key K) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy[key] || len(r.busy) >= r.most {
		return false
	}
	r.busy[key] = true
	return true
}

func (r *Rounds[K]) deliver(ctx context.Context, key K, deliver func(context.Context, K) error) {
	if deliver(ctx, key) != nil {
		select {
		case <-time.After(Retry):
		case <-ctx.Done():
		}
	}
	r.mu.Lock()
	delete(r.busy, key)
	r.mu.Unlock()
	r.Wake()
}
