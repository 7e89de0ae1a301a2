package channel

import "sync"

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
