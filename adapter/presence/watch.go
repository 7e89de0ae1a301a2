package presence

import (
	"context"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

const (
	watchEvery   = 30 * time.Second // so that one look may be in vain within a minute
	watchLimit   = 10 * time.Second
	betweenLooks = 5 * time.Second // at least, however many ask
)

// watch asks from time to time whether the workspace still exists, and returns
// [ErrDeleted] when it does not; nil when ctx ends. Neither a heartbeat nor a
// registration tells: platforms take both of a workspace that is gone.
func (p *Presence) watch(ctx context.Context) error {
	silent := false // the last look was not answered
	for p.untilLook(ctx) {
		deleted, err := p.lookOnce(ctx)
		if deleted {
			return ErrDeleted
		}
		if err != nil && !silent {
			p.log.Warn("the platform does not say how the workspace stands", "err", err)
		}
		silent = err != nil
		if !sleep.For(ctx, betweenLooks) {
			return nil
		}
	}
	return nil
}

// untilLook waits until it is time to ask, and reports whether ctx did not end meanwhile.
func (p *Presence) untilLook(ctx context.Context) bool {
	timer := time.NewTimer(watchEvery - betweenLooks)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.look:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *Presence) lookOnce(ctx context.Context) (deleted bool, err error) {
	limited, cancel := context.WithTimeout(ctx, watchLimit)
	defer cancel()
	state, err := p.cfg.Platform.State(limited)
	if ctx.Err() != nil {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if state.Deleted {
		p.log.Warn("the platform has deleted this workspace; the runtime ends")
		return true, nil
	}
	was := p.Status().Paused
	p.update(func(s *Status) { s.Paused = state.Paused })
	if was != state.Paused {
		p.log.Info("the platform says whether the workspace is paused", "paused", state.Paused)
	}
	return false, nil
}
