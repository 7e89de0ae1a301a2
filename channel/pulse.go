package channel

import (
	"context"
	"sync"
	"time"
)

// A pulse wakes everybody who waits for it.
type pulse struct {
	mu sync.Mutex
	c  chan struct{} // nil while nobody waits
}

// wait returns a channel that the next beat closes.
func (p *pulse) wait() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.c == nil {
		p.c = make(chan struct{})
	}
	return p.c
}

func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.c != nil {
		close(p.c)
		p.c = nil
	}
}

// poke wakes the one who reads from c. It does not wait.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// sleep waits, and reports whether ctx did not end meanwhile.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
