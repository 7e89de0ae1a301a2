package tenancy

import "context"

// mostEnded is how many turns that have ended a stay remembers.
const mostEnded = 1024

// Begin says that a turn begins. One that runs already, or has ended, is as good: what is said of a turn may
// come twice, and its end before its begin.
func (s *Stay) Begin(turn string) error {
	t := s.t
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case s.state != living:
		return ErrOver
	case s.turns[turn], s.ended.has(turn):
		return nil
	case t.draining:
		return ErrDraining
	case t.trouble != "":
		return TroubleError(t.trouble)
	case t.taken >= t.cfg.Turns:
		return ErrFull
	}
	s.turns[turn] = true
	t.taken++
	t.tellLocked()
	return nil
}

// End says that a turn has ended.
func (s *Stay) End(turn string) {
	t := s.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.state != living {
		return
	}
	s.ended.add(turn)
	if !s.turns[turn] {
		return
	}
	delete(s.turns, turn)
	t.taken--
	t.tellLocked()
}

// Drain says whether new turns are taken.
func (t *Tenants) Drain(draining bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.draining != draining {
		t.draining = draining
		t.tellLocked()
	}
}

// Draining reports whether no new turns are taken.
func (t *Tenants) Draining() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.draining
}

// Trouble says why no turns can be taken; empty where they can.
func (t *Tenants) Trouble(why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.trouble != why {
		t.trouble = why
		t.tellLocked()
	}
}

// Count returns how many runtimes there are, and how many turns run.
func (t *Tenants) Count() (runtimes, turns int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.countLocked(), t.taken
}

func (t *Tenants) countLocked() (runtimes int) {
	for _, s := range t.all {
		if s.state != gone {
			runtimes++
		}
	}
	return runtimes
}

// Quiet waits until no turn runs, and reports whether that was before ctx ended.
func (t *Tenants) Quiet(ctx context.Context) bool {
	for {
		t.mu.Lock()
		taken, changed := t.taken, t.changed
		t.mu.Unlock()
		if taken == 0 {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// A recent is the names that came last. The zero value is ready.
type recent struct {
	names map[string]bool
	order []string // a ring, once it is full
	next  int
}

func (r *recent) has(name string) bool { return r.names[name] }

func (r *recent) add(name string) {
	if r.names[name] {
		return
	}
	if r.names == nil {
		r.names = map[string]bool{}
	}
	if len(r.order) < mostEnded {
		r.order = append(r.order, name)
	} else {
		delete(r.names, r.order[r.next])
		r.order[r.next] = name
		r.next = (r.next + 1) % mostEnded
	}
	r.names[name] = true
}
