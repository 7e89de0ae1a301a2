package presence

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

const (
	registerLimit = 15 * time.Second // of one attempt
	anew          = time.Hour        // after a registration was taken, it is made again
	anewRefused   = 5 * time.Minute  // and after one was not
	betweenRounds = 15 * time.Second // at least, whoever asks
	mostAsked     = time.Minute      // that the platform can have us wait for an attempt
)

// pauses are those between the attempts of a round: one more attempt than pauses.
func pauses() []time.Duration {
	const s = time.Second
	return []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 30 * s, 30 * s}
}

// stayRegistered registers at the start, when somebody asks for it, and from time to
// time: a platform that has restarted knows us by our heartbeat, but not our address.
func (p *Presence) stayRegistered(ctx context.Context) {
	for first := true; ; first = false {
		next := anewRefused
		if (first || !p.gone(ctx)) && p.round(ctx) || p.Status().NoPolling {
			next = anew
		}
		if !sleep.For(ctx, betweenRounds) {
			return
		}
		if !p.untilAsked(ctx, next-betweenRounds) {
			return
		}
	}
}

// untilAsked waits for the time of another round, or until somebody asks for one, and
// reports whether ctx did not end meanwhile.
func (p *Presence) untilAsked(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.again:
		return true
	case <-ctx.Done():
		return false
	}
}

// round tries to register until that is taken, is refused for good, or has been tried
// often enough.
func (p *Presence) round(ctx context.Context) bool {
	for attempt := 0; ; attempt++ {
		err := p.register(ctx)
		if attempt == 0 {
			p.firstTried()
		}
		if err == nil {
			return true
		}
		wait, again := platform.Again(err)
		if ctx.Err() != nil || !again || attempt == len(pauses()) {
			p.refused(ctx, err, attempt+1)
			return false
		}
		p.log.Warn("the workspace could not be registered and this is tried again", "attempt", attempt+1, "err", platform.Advise(err))
		if !sleep.For(ctx, max(pauses()[attempt], min(wait, mostAsked))) {
			return false
		}
	}
}

// Renew has the workspace registered anew, soon: its card is another.
func (p *Presence) Renew() { poke(p.again) }

// Register registers the workspace once, for calls of the platform that it has
// refused the token of.
func (p *Presence) Register(ctx context.Context) error {
	if p.gone(ctx) {
		return ErrDeleted
	}
	return p.register(ctx)
}

// gone reports whether the workspace is known to be deleted. A deletion takes the token
// away, and platforms give out another to one that registers anew.
func (p *Presence) gone(ctx context.Context) bool {
	deleted, _ := p.lookOnce(ctx) // what cannot be had says nothing
	if deleted {
		poke(p.look) // the one who ends us looks for itself
	}
	return deleted
}

func (p *Presence) register(ctx context.Context) error {
	if ctx.Err() != nil { // we end, for the workspace may have been deleted
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, registerLimit)
	defer cancel()
	answer, err := p.cfg.Platform.Register(ctx, platform.Registration{
		URL: p.cfg.URL, Card: p.cfg.Card(), DeliveryMode: p.cfg.DeliveryMode,
	})
	if kept, ok := errors.AsType[*platform.KeepError](err); ok {
		p.log.Error("what the platform gave out at the registration could not be kept; after a restart it is missing", "err", kept)
		err = nil
	}
	was := p.Status()
	if err != nil {
		noPolling := errors.Is(err, platform.ErrNoPolling)
		p.update(func(s *Status) { s.Registered, s.Refused, s.NoPolling = false, err.Error(), noPolling })
		if noPolling && !was.NoPolling {
			p.log.Error("the workspace is not registered", "err", err)
		}
		return err
	}
	p.update(func(s *Status) { s.Registered, s.Reachable, s.Refused, s.NoPolling = true, true, "", false })
	if answer.DeliveryMode != "" && answer.DeliveryMode != p.cfg.DeliveryMode {
		p.log.Warn("the platform delivers in another way than it was asked to", "asked", p.cfg.DeliveryMode, "mode", answer.DeliveryMode)
	}
	if !was.Registered {
		p.log.Info("the workspace is registered", "url", p.cfg.URL, "delivery_mode", p.cfg.DeliveryMode)
	}
	return nil
}

// refused notes a round that has failed. A heartbeat makes the workspace look alive
// all the same; whether it can be reached stands in what the platform has of it.
func (p *Presence) refused(ctx context.Context, cause error, attempts int) {
	if ctx.Err() != nil || errors.Is(cause, platform.ErrNoPolling) { // that has been said
		return
	}
	ctx, cancel := context.WithTimeout(ctx, registerLimit)
	defer cancel()
	reachable := false
	if platform.StatusOf(cause) == http.StatusUnauthorized || errors.Is(cause, platform.ErrUselessToken) {
		poke(p.look)
	} else {
		info, err := p.cfg.Platform.Workspace(ctx)
		reachable = err == nil && info.URL != ""
	}
	p.update(func(s *Status) { s.Reachable = reachable })
	if reachable {
		p.log.Warn("the workspace could not be registered; the platform has an address of it all the same", "attempts", attempts, "err", cause)
		return
	}
	if p.cfg.DeliveryMode == "poll" {
		p.log.Error("the workspace could not be registered, so the platform does not show it as online; it is tried again", "attempts", attempts, "err", platform.Advise(cause))
		return
	}
	p.log.Error("the workspace could not be registered, so the platform has no address to send messages to; heartbeats go on, and it is tried again",
		"attempts", attempts, "url", p.cfg.URL, "err", platform.Advise(cause))
}

// firstTried says that registering was tried. Only the registering goroutine calls it.
func (p *Presence) firstTried() {
	select {
	case <-p.tried:
	default:
		close(p.tried)
	}
}
