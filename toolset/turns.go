package toolset

import (
	"context"
	"maps"
	"sync"

	"golang.org/x/time/rate"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// Turns returns those of a process: a quarter of the 600 requests a minute that the platform
// takes of an address, and some at once. The rest is for what a workspace lives by:
// heartbeats, its inbox, replies.
func Turns() *rate.Limiter { return rate.NewLimiter(150./60, 30) }

// What a thread may call, so that its script leaves other threads theirs.
const (
	callsPerSecond = 1
	callsAtOnce    = 20
	mostOpen       = 32      // calls that have not ended: they take places that codex's questions need
	mostArguments  = 2 << 20 // bytes that a call brings
)

// mostPaces is how many threads are kept at least before those are forgotten that call nothing.
const mostPaces = 256

// A pace is that of a thread that calls.
type pace struct {
	turns *rate.Limiter
	open  int
}

// paces are by thread.
type paces struct {
	mu sync.Mutex
	of map[string]*pace
}

// begin waits for the turn of a call, which lasts until end is called. Where the turn would
// not come soon it fails at once.
func (p *paces) begin(ctx context.Context, thread string) (end func(), err error) {
	own := p.enter(thread)
	if own == nil {
		return nil, platform.ErrBusy
	}
	if err := platform.Await(ctx, own.turns); err != nil {
		p.leave(own)
		return nil, err
	}
	return func() { p.leave(own) }, nil
}

// enter counts a call, and returns nil if there is no room for it.
func (p *paces) enter(thread string) *pace {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.pace(thread)
	if own.open >= mostOpen {
		return nil
	}
	own.open++
	return own
}

func (p *paces) leave(own *pace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own.open--
}

// pace is called with mu held.
func (p *paces) pace(thread string) *pace {
	if own := p.of[thread]; own != nil {
		return own
	}
	if p.of == nil {
		p.of = map[string]*pace{}
	}
	if len(p.of) >= mostPaces {
		maps.DeleteFunc(p.of, func(_ string, other *pace) bool { return other.open == 0 })
	}
	own := &pace{turns: rate.NewLimiter(callsPerSecond, callsAtOnce)}
	p.of[thread] = own
	return own
}
