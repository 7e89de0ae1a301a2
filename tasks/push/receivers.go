package push

import (
	"sync"
	"time"
)

// Receivers bounds the posts to each host for those who post beside a [Deliverer], as that does:
// a receiver that hangs leaves places for others. It may be used concurrently.
type Receivers struct {
	now func() time.Time

	mu    sync.Mutex // guards hosts
	hosts hosts
}

// NewReceivers returns one that goes by a clock.
func NewReceivers(now func() time.Time) *Receivers {
	return &Receivers{now: now, hosts: newHosts()}
}

// Room reports whether one more post to a URL may run.
func (r *Receivers) Room(url string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hosts.room(place{host: canonicalHost(url)}, r.now())
}

// Begin counts a post to a URL until end is called, or reports that there is no room for it.
func (r *Receivers) Begin(url string) (end func(), ok bool) {
	to, began := place{host: canonicalHost(url)}, r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.hosts.room(to, began) {
		return func() {}, false
	}
	r.hosts.count(to, 1)
	return func() { r.end(to, began) }, true
}

func (r *Receivers) end(to place, began time.Time) {
	now, how := r.now(), prompt
	if now.Sub(began) >= defaultTimeout/2 {
		how = slow
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts.count(to, -1)
	r.hosts.learn(to, how, now)
}
