package push

import (
	"sync"
	"time"
)

// Receivers bounds the posts to each host for those who post beside a [Deliverer], as that does:
// a receiver that hangs leaves places for others. It may be used concurrently.
type Receivers struct {
	timeout time.Duration // of a post
	now     func() time.Time

	mu    sync.Mutex // guards hosts
	hosts hosts
}

// NewReceivers returns one for posts that may take as long as timeout; now is the clock.
func NewReceivers(timeout time.Duration, now func() time.Time) *Receivers {
	return &Receivers{timeout: timeout, now: now, hosts: newHosts()}
}

// Room reports whether one more post to a URL may run.
func (r *Receivers) Room(url string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hosts.room(place{host: canonicalHost(url)}, r.now())
}

// Begin counts a post to a URL until end is called, which is told whether the host has answered; or it
// reports that there is no room for it.
func (r *Receivers) Begin(url string) (end func(answered bool), ok bool) {
	to, began := place{host: canonicalHost(url)}, r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.hosts.room(to, began) {
		return nil, false
	}
	r.hosts.count(to, 1)
	return func(answered bool) { r.end(to, began, answered) }, true
}

func (r *Receivers) end(to place, began time.Time, answered bool) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts.count(to, -1)
	r.hosts.learn(to, treatmentOf(answered, now.Sub(began), r.timeout), now)
}
