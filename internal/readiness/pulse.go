package readiness

import (
	"context"
	"sync"
	"time"
)

const (
	// childPatience is how long the child may take to answer a probe.
	childPatience = 2 * time.Second
	// pulseLasts is how long its answer is believed: anybody may ask whether we are ready, and
	// thousands may ask at once.
	pulseLasts = time.Second
)

// A pulse is whether the child answers. All who ask at once share one call of it.
type pulse struct {
	mu      sync.Mutex // guards the fields below
	err     error
	until   time.Time
	running chan struct{} // closed at the end of the call under way; nil without one
}

// feel returns why the child does not answer, at most as old as it may be. It calls ping by
// way of run, which starts a goroutine.
func (p *pulse) feel(ctx context.Context, run func(func()), ping func(context.Context) error) error {
	p.mu.Lock()
	if p.running == nil && time.Now().Before(p.until) {
		defer p.mu.Unlock()
		return p.err
	}
	if p.running == nil {
		p.running = make(chan struct{})
		run(func() { p.call(ping) })
	}
	running := p.running
	p.mu.Unlock()
	select {
	case <-running:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *pulse) call(ping func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), childPatience)
	defer cancel()
	err := ping(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err, p.until = err, time.Now().Add(pulseLasts)
	close(p.running)
	p.running = nil
}
