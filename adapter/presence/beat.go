package presence

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

const (
	beatEvery  = 30 * time.Second
	beatLimit  = 10 * time.Second
	edgeLimit  = 5 * time.Second        // of a beat at the edge of work
	edgeGap    = 250 * time.Millisecond // between beats, at least
	edgeRetry  = 5 * time.Second        // after a change that could not be told
	firstLimit = 5 * time.Second        // that the first beat waits for the first attempt to register
	// A platform that has heard nothing for this long has taken us for dead, and
	// forgotten our address: a heartbeat does not bring that back.
	gap = time.Minute
)

// A pulse is what the goroutine that beats knows.
type pulse struct {
	sent     time.Time // when the last beat went out
	told     doing     // what the last one that was taken has said
	taken    time.Time // when, by the wall clock: a machine that sleeps has a gap, too
	failures int       // since then
	crowded  bool      // the last one was refused for the number of requests
}

// beatOn beats: at once, from time to time, and at both edges of work.
func (p *Presence) beatOn(ctx context.Context) {
	timer := time.NewTimer(firstLimit)
	select {
	case <-p.tried:
	case <-timer.C:
	case <-ctx.Done():
	}
	timer.Stop()
	var now pulse
	limit := beatLimit
	tick := time.NewTicker(p.cfg.Every)
	defer tick.Stop()
	for ctx.Err() == nil {
		p.beat(ctx, &now, limit)
		var untold <-chan time.Time
		if now.failures > 0 {
			untold = time.After(edgeRetry)
		}
		if limit = p.next(ctx, tick.C, untold, &now); limit == 0 {
			return
		}
	}
}

// next waits for the time of the next beat and returns its limit; 0 when ctx ends.
func (p *Presence) next(ctx context.Context, tick, untold <-chan time.Time, now *pulse) time.Duration {
	for {
		select {
		case <-tick:
			return beatLimit
		case <-untold:
			if now.crowded || p.now().doing != now.told {
				return edgeLimit
			}
		case <-p.work.changed:
			if !sleep.For(ctx, edgeGap-time.Since(now.sent)) {
				return 0
			}
			// A beat that was not answered may have been taken: what was told is not known.
			if now.failures > 0 || p.now().doing != now.told {
				return edgeLimit
			}
		case <-ctx.Done():
			return 0
		}
	}
}

// now is what is to be told now.
func (p *Presence) now() snapshot {
	s := p.work.snapshot(time.Now())
	s.wedged = p.cfg.Wedged()
	if p.Status().NoPolling { // it would look well, and be deaf
		s.wedged = platform.ErrNoPolling.Error()
	}
	return s
}

// beat sends one heartbeat.
func (p *Presence) beat(ctx context.Context, now *pulse, limit time.Duration) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	now.sent = time.Now()
	does := p.now()
	err := p.cfg.Platform.Heartbeat(limited, p.compose(does))
	if kept, ok := errors.AsType[*platform.KeepError](err); ok {
		p.log.Error("the secret that the platform gave out could not be kept", "err", kept)
		err = nil
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		p.missed(now, err)
		return
	}
	p.taken(now, does.doing)
}

// compose makes a heartbeat. Each has everything: what is missing the platform takes
// for nothing.
func (p *Presence) compose(does snapshot) platform.Beat {
	metadata := p.cfg.Metadata
	beat := platform.Beat{
		ErrorRate: does.rate, SampleError: brief.Cleared(does.sample, mostHead, p.cfg.Redact),
		ActiveTasks: does.active, CurrentTask: brief.Cleared(does.current, mostHead, p.cfg.Redact),
		UptimeSeconds: int64(time.Since(p.start) / time.Second),
		Metadata:      &metadata, LoadedMCPTools: p.cfg.Tools(),
	}
	if does.wedged != "" {
		beat.RuntimeState, beat.SampleError = platform.Wedged, p.cfg.Redact(does.wedged)
	}
	beat.SampleError = brief.Line(beat.SampleError, mostSample)
	beat.CurrentTask = brief.Line(beat.CurrentTask, mostTask)
	if !p.Status().Registered { // it fills in for a registration that was refused
		beat.Card = p.cfg.Card()
	}
	return beat
}

func (p *Presence) taken(now *pulse, told doing) {
	at := time.Now().Round(0)
	switch {
	case now.taken.IsZero():
		p.log.Info("the platform takes our heartbeats")
	case now.failures > 0:
		p.log.Info("the platform takes our heartbeats again", "failures", now.failures)
	}
	// Where the platform was away so long that registering was given up for now, it
	// believes us to be there, and knows no address.
	unknown := now.failures > 0 && !p.Status().Registered
	if unknown || !now.taken.IsZero() && at.Sub(now.taken) > gap {
		poke(p.again)
	}
	now.told, now.taken, now.failures = told, at, 0
	p.update(func(s *Status) { s.LastBeat, s.BeatError = at, "" })
}

// missed notes a heartbeat that was not taken.
func (p *Presence) missed(now *pulse, err error) {
	now.failures++
	now.crowded = platform.StatusOf(err) == http.StatusTooManyRequests
	p.update(func(s *Status) { s.BeatError = err.Error() })
	if now.failures <= 3 || now.failures%10 == 0 {
		p.log.Warn("the platform did not take a heartbeat", "failures", now.failures, "err", err)
	}
	switch platform.StatusOf(err) {
	case http.StatusUnauthorized, http.StatusNotFound, http.StatusGone:
		poke(p.look)
		if now.failures&(now.failures-1) == 0 { // ever more rarely: what is refused for good stays so
			poke(p.again)
		}
	}
}
