package push

import "time"

const (
	// mostOfHost is how many posts to a host run at the same time. One that has kept a post
	// waiting has one place until it has answered in time, or that is so long ago.
	mostOfHost = 2
	slowFor    = 10 * time.Minute // longer than we wait by ourselves between two tries
	mostSlow   = 1024             // hosts that this is known of; the oldest is let go
)

// A place is a host, as its posts are counted. What peers make wait there is not held
// against those of others: they may have named another's receiver.
type place struct {
	host string
	peer bool
}

// hosts knows how many posts run to each host, and which have kept one waiting.
type hosts struct {
	flying map[place]int
	slow   map[place]time.Time // since when
}

func newHosts() hosts {
	return hosts{flying: map[place]int{}, slow: map[place]time.Time{}}
}

// isSlow reports whether a host has kept a post waiting lately.
func (h *hosts) isSlow(p place, now time.Time) bool {
	since, ok := h.slow[p]
	return ok && now.Sub(since) < slowFor
}

// room reports whether one more post to a host may run.
func (h *hosts) room(p place, now time.Time) bool {
	n := h.flying[p]
	return n == 0 || n < mostOfHost && !h.isSlow(p, now)
}

func (h *hosts) count(p place, n int) {
	if h.flying[p] += n; h.flying[p] == 0 {
		delete(h.flying, p)
	}
}

// learn takes in how a host has treated a post.
func (h *hosts) learn(p place, t treatment, now time.Time) {
	switch t {
	case prompt:
		delete(h.slow, p)
	case slow:
		h.slow[p] = now
		h.forget()
	}
}

// forget lets the oldest go if there is too much.
func (h *hosts) forget() {
	if len(h.slow) <= mostSlow {
		return
	}
	var oldest place
	var since time.Time
	for p, at := range h.slow {
		if since.IsZero() || at.Before(since) {
			oldest, since = p, at
		}
	}
	delete(h.slow, oldest)
}

// treatmentOf is how a receiver has treated a post that took so long, and may take as long as a
// timeout. What it answers at the last moment holds a place as long as what it does not answer.
func treatmentOf(answered bool, took, timeout time.Duration) treatment {
	switch {
	case took >= timeout/2:
		return slow
	case answered:
		return prompt
	}
	return unknown
}

// A treatment is how a host has treated a post, as far as that says something of the next.
type treatment int

const (
	unknown treatment = iota
	prompt            // it has answered in time
	slow              // it has taken much of the time that there is, or all of it
)
