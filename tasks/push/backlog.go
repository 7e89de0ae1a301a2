package push

import (
	"math"
	"sync"
)

// How many notifications may wait before others are done without: of one sender, and of
// all peers together.
const (
	mostWaiting        = 2000
	mostWaitingOfPeers = 3000
)

// A backlog is how much waits to be posted, by senders. It may be used concurrently.
type backlog struct {
	mu    sync.Mutex
	share share
}

// newBacklog has no bound for all together: peers must not take the user's room.
func newBacklog() *backlog {
	return &backlog{share: share{most: math.MaxInt, ofOne: mostWaiting, ofPeers: mostWaitingOfPeers, of: map[Sender]int{}}}
}

func (b *backlog) full(of Sender) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.share.room(of)
}

func (b *backlog) count(of Sender, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.share.count(of, n)
}
