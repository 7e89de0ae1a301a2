package toolset

import (
	"context"
	"maps"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// Turns are those of a process: a quarter of the 600 requests a minute that the platform takes
// of an address, and some at once. The rest is for what a workspace lives by: heartbeats, its
// inbox, replies.
func Turns() *rate.Limiter { return rate.NewLimiter(150./60, 30) }

const (
	callsPerSecond = 1 // of one conversation, so that its script leaves others theirs
	callsAtOnce    = 20
	mostOpen       = 32 // calls of a conversation that have not ended
	mostPaced      = 256
	mostArguments  = 2 << 20 // bytes that a call brings
)

// longestWait is how long a call waits for its turn: codex's questions have the same places as
// the calls that are open.
const longestWait = 20 * time.Second

// A pace is that of a conversation that calls.
type pace struct {
	turns *rate.Limiter
	open  int
}

// paces are by thread.
type paces struct {
	mu sync.Mutex
	of map[string]*pace
}

// begin waits for the turn of a call, which has ended when end is called. Where the turn would
// not come soon it fails at once.
func (p *paces) begin(ctx context.Context, thread string) (end func(), err error) {
	own := p.enter(thread)
	if own == nil {
		return nil, platform.ErrBusy
	}
	limited, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	if err := own.turns.Wait(limited); err != nil {
		p.leave(own)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, platform.ErrBusy
	}
	return func() { p.leave(own) }, nil
}

// enter counts a call, and returns nil if there is no room for it.
func (p *paces) enter(thread string) *pace {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := p.of[thread]
	if own == nil {
		if p.of == nil {
			p.of = map[string]*pace{}
		}
		if len(p.of) >= mostPaced {
			maps.DeleteFunc(p.of, func(_ string, other *pace) bool { return other.open == 0 })
		}
		own = &pace{turns: rate.NewLimiter(callsPerSecond, callsAtOnce)}
		p.of[thread] = own
	}
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
