package tenancy

import (
	"cmp"
	"context"
	"time"
)

// A state is how a stay stands.
type state int

const (
	living state = iota
	ending       // what ran for it is being ended
	gone         // nothing of it is left
)

// A Stay is one epoch of a runtime, as long as this machine works for it.
type Stay struct {
	t       *Tenants
	runtime string
	epoch   int64
	work    Work
	ctx     context.Context //nolint:containedctx // its end is that of the stay
	leave   context.CancelFunc
	gone    chan struct{} // closed when the state is gone

	// Guarded by Tenants.mu:

	state   state
	watches int
	fading  *time.Timer // ends it unless a watch comes
	turns   map[string]bool
	ended   recent // turns that have ended
}

// Runtime is whose stay it is.
func (s *Stay) Runtime() string { return s.runtime }

// Context ends with the stay.
func (s *Stay) Context() context.Context { return s.ctx }

// Work is what runs for it.
func (s *Stay) Work() Work { return s.work }

// Watch keeps the stay, until release is called: when the last watch has been released for as long as
// a silence, the stay ends.
func (s *Stay) Watch() (release func()) {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	s.watches++
	s.fading.Stop()
	return func() {
		s.t.mu.Lock()
		defer s.t.mu.Unlock()
		if s.watches--; s.watches == 0 && s.state == living {
			s.fadeLocked()
		}
	}
}

// fadeLocked has the stay end after a silence.
func (s *Stay) fadeLocked() {
	var timer *time.Timer
	timer = time.AfterFunc(s.t.cfg.Silence, func() {
		s.t.mu.Lock()
		defer s.t.mu.Unlock()
		if s.state == living && s.watches == 0 && s.fading == timer {
			s.t.endLocked(s, "nothing was heard of it")
		}
	})
	s.fading = timer
}

// A Snapshot is how the tenants stand, as one of them sees it.
type Snapshot struct {
	Exec, Taken, Mine, Runtimes int
	Draining                    bool
	Trouble                     string
}

// Look returns how things stand, and what is closed when that has changed.
func (s *Stay) Look() (now Snapshot, changed <-chan struct{}) {
	number, trouble := s.work.Number(), s.work.Trouble() // before the lock: what runs tells of changes with locks of its own
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	return Snapshot{Exec: number, Runtimes: s.t.countLocked(), Taken: s.t.taken, Mine: len(s.turns), Draining: s.t.draining, Trouble: cmp.Or(s.t.trouble, trouble)}, s.t.changed
}
