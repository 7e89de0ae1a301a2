package appserver

import (
	"maps"
	"sync"
	"sync/atomic"
)

// A router brings notifications to the queues of their threads. Only the
// reading goroutine delivers; anybody may subscribe.
//
// Lock order: router.mu, then queue.mu.
type router struct {
	limit  int // bytes a queue may hold
	global func(Notification)
	stats  *counters

	queues atomic.Pointer[map[string]*queue] // replaced, never changed, so that delivering takes no lock

	mu    sync.Mutex // held while queues is replaced; guards ended
	ended error      // the child's end
}

func newRouter(limit int, global func(Notification), stats *counters) *router {
	r := &router{limit: limit, global: global, stats: stats}
	r.queues.Store(&map[string]*queue{})
	return r
}

// find returns the queue of a thread, or nil.
func (r *router) find(threadID []byte) *queue { return (*r.queues.Load())[string(threadID)] }

// deliver hands n to q, or to the global callback if nobody follows the thread.
func (r *router) deliver(q *queue, n Notification) {
	if q == nil {
		r.global(n)
		return
	}
	taken, dropped := q.push(n)
	if dropped {
		r.stats.deltasDropped.Add(1)
	}
	if !taken {
		r.global(n)
	}
}

// deliverAll hands n to every queue.
func (r *router) deliverAll(note OverflowNote) {
	for _, q := range *r.queues.Load() {
		q.push(overflow(q.threadID, note))
	}
}

// ensureLocked returns the queue of a thread, made if need be.
func (r *router) ensureLocked(threadID string) *queue {
	if q := (*r.queues.Load())[threadID]; q != nil {
		return q
	}
	q := &queue{threadID: threadID, limit: r.limit, ended: r.ended}
	next := maps.Clone(*r.queues.Load())
	next[threadID] = q
	r.queues.Store(&next)
	return q
}

// remove takes q out. The caller holds r.mu and q.mu.
func (r *router) remove(q *queue) {
	q.gone, q.items, q.head, q.bytes = true, nil, 0, 0
	next := maps.Clone(*r.queues.Load())
	delete(next, q.threadID)
	r.queues.Store(&next)
}

// hold makes a queue for a thread, or keeps the one it has, until the next subscribe.
func (r *router) hold(threadID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.ensureLocked(threadID)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held = true
}

// release undoes hold for a thread that nobody has subscribed since.
func (r *router) release(threadID string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := (*r.queues.Load())[threadID]
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.held = false; q.owner == nil {
		r.remove(q)
	}
}

func (r *router) subscribe(threadID string) *Subscription {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := r.ensureLocked(threadID)
	s := &Subscription{q: q, router: r, wake: make(chan struct{}, 1)}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.owner != nil {
		q.owner.notify()
	}
	q.owner, q.held = s, false
	return s
}

// unsubscribe ends s, unless another has taken over.
func (r *router) unsubscribe(s *Subscription) {
	r.mu.Lock()
	defer r.mu.Unlock()
	q := s.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.owner != s {
		return
	}
	q.owner = nil
	s.notify()
	if !q.held {
		r.remove(q)
	}
}

// end tells all subscribers, present and future, that the child is gone.
func (r *router) end(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = err
	for _, q := range *r.queues.Load() {
		q.end(err)
	}
}
