package push

import (
	"math"
	"sync"
	"time"
)

// How much may wait before other notifications are done without: of one sender, and of all
// peers together.
const (
	mostWaiting        = 2000
	mostWaitingOfPeers = 3000
	mostBytes          = 64 << 20
	mostBytesOfPeers   = 96 << 20
	keptBytes          = 16 << 20 // of those, for what cannot be done without
)

// A backlog is how much waits to be posted, by senders. It may be used concurrently.
type backlog struct {
	mu       sync.Mutex
	rows     share
	bytes    share // with what is reserved
	reserved map[Sender]reservation
}

// A reservation is the bytes of what is about to be put into the outbox, or was and is not
// loaded yet. They count from then on: many tasks can put something in at the same moment.
type reservation struct {
	bytes int
	last  time.Time // that something was reserved
}

// lapsed is the age of a reservation whose notifications will not come any more: they could
// not be committed.
const lapsed = time.Minute

// newBacklog has no bounds for all together: peers must not take the user's room.
func newBacklog() *backlog {
	bound := func(ofOne, ofPeers int) share {
		return share{most: math.MaxInt, ofOne: ofOne, ofPeers: ofPeers, of: map[Sender]int{}}
	}
	return &backlog{
		rows: bound(mostWaiting, mostWaitingOfPeers), bytes: bound(mostBytes, mostBytesOfPeers),
		reserved: map[Sender]reservation{},
	}
}

func (b *backlog) full(of Sender) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.rows.room(of, 1) || !b.bytes.room(of, keptBytes)
}

// reserve reports whether there is room for so many bytes, and takes it.
func (b *backlog) reserve(of Sender, bytes int, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.bytes.room(of, bytes) {
		return false
	}
	b.bytes.count(of, bytes)
	b.reserved[of] = reservation{b.reserved[of].bytes + bytes, now}
	return true
}

// add counts a notification that waits. What was reserved is counted already.
func (b *backlog) add(of Sender, size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.reserved[of]
	known := min(r.bytes, size)
	if r.bytes -= known; r.bytes == 0 {
		delete(b.reserved, of)
	} else {
		b.reserved[of] = r
	}
	b.rows.count(of, 1)
	b.bytes.count(of, size-known)
}

func (b *backlog) remove(of Sender, size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows.count(of, -1)
	b.bytes.count(of, -size)
}

// lapse lets go of reservations that nothing came of.
func (b *backlog) lapse(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for of, r := range b.reserved {
		if now.Sub(r.last) > lapsed {
			b.bytes.count(of, -r.bytes)
			delete(b.reserved, of)
		}
	}
}
