package toolset

import (
	"context"
	"sync"

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
	mostPaced      = 256 // conversations whose pace is known
)

// paces are those of the conversations that call.
type paces struct {
	mu sync.Mutex
	of map[string]*rate.Limiter // by thread
}

// wait waits for the turn of a call. Where it would not come in time it fails at once.
func (p *paces) wait(ctx context.Context, thread string) error {
	err := p.by(thread).Wait(ctx)
	if err != nil && ctx.Err() == nil {
		return platform.ErrBusy
	}
	return err
}

func (p *paces) by(thread string) *rate.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of[thread] == nil {
		if len(p.of) >= mostPaced || p.of == nil {
			p.of = map[string]*rate.Limiter{}
		}
		p.of[thread] = rate.NewLimiter(callsPerSecond, callsAtOnce)
	}
	return p.of[thread]
}
