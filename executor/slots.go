package executor

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// slots bound how many turns work at the same time. A turn that waits for answers does no
// work, and leaves its slot to others:
//
//	queued ──▶ working ──asks──▶ asking ──▶ parked ──the answer──▶ returning ──▶ working
//	              ▲                 │
//	              └───the answer────┘
//
// As many turns as may be are parked; those beyond that keep their slots while they ask,
// until one that is parked has its answer.
// A slot that becomes free goes to the turn that has been returning for the longest, and
// only then to a job in the queue: what was begun is brought to its end first. Of several
// slots those of other agents leave one to the user, also where the agent goes on with more of
// their turns by itself.
type slots struct {
	limit int    // turns that may work at the same time
	most  int    // turns that may be parked or returning
	idle  func() // called with mu held while no turn is begun, before another one is

	mu   sync.Mutex // guards the fields below, and those of every slot
	in   map[slotState][]*slot
	full time.Time // since when every slot is taken, and none was given to another job; zero if one is free
}

// A slotState is how a job stands towards the slots. The zero value has nothing to do
// with them.
type slotState string

const (
	slotQueued    slotState = "queued"    // it waits for its first slot
	slotWorking   slotState = "working"   // it holds one
	slotAsking    slotState = "asking"    // it holds one, although its turn waits for answers
	slotParked    slotState = "parked"    // its turn waits for answers, and holds none
	slotReturning slotState = "returning" // its turn has been answered, and waits for one
)

// A slot is what one job has to do with the slots, from the queue to its end.
type slot struct {
	of      *slots
	peer    bool // it is another agent's
	state   slotState
	granted func() // called with of.mu held when the job gets what it waits for
}

func newSlots(limit, most int, idle func()) *slots {
	return &slots{limit: limit, most: most, idle: idle, in: map[slotState][]*slot{}}
}

// take waits for a slot, behind all that wait already. It fails when ctx has ended, also
// where a slot was free: a job that is canceled, or shut down, must not begin with it.
func (s *slots) take(ctx context.Context, peer bool) (*slot, error) {
	job := &slot{of: s, peer: peer}
	if err := cmp.Or(job.wait(ctx, slotQueued), context.Cause(ctx)); err != nil {
		job.release()
		return nil, err
	}
	return job, nil
}

// regain waits until the job holds a slot, if it does not: the turn that has left it
// is to be followed by another.
func (j *slot) regain(ctx context.Context) error { return j.wait(ctx, slotReturning) }

func (j *slot) wait(ctx context.Context, as slotState) error {
	got := make(chan struct{})
	if j.want(as, func() { close(got) }) {
		return nil
	}
	select {
	case <-got:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// park says that the turn does nothing until it is answered.
func (j *slot) park() {
	j.of.change(func() {
		if j.state == slotWorking {
			j.enterLocked(slotAsking)
		}
	})
}

// resume asks for a slot for a turn that has been answered, and reports whether it has
// one. granted is called when it gets one; it must not block.
func (j *slot) resume(granted func()) bool { return j.want(slotReturning, granted) }

func (j *slot) want(as slotState, granted func()) (got bool) {
	j.of.change(func() {
		switch j.granted = granted; j.state {
		case slotAsking:
			j.enterLocked(slotWorking)
		case "", slotParked:
			j.enterLocked(as)
			j.of.fillLocked()
		}
		got = j.state == slotWorking
	})
	return got
}

// seize takes a slot, also where none is free: the agent goes on with the turn by itself.
func (j *slot) seize() {
	if !j.rests() { // as with each delta
		return
	}
	j.of.change(func() {
		if j.state != "" && j.state != slotWorking {
			j.enterLocked(slotWorking)
		}
	})
}

// rests reports whether the job has given its slot back, or waits for one.
func (j *slot) rests() bool {
	j.of.mu.Lock()
	defer j.of.mu.Unlock()
	return j.state != "" && j.state != slotWorking
}

// release ends what the job has to do with the slots.
func (j *slot) release() { j.of.change(func() { j.enterLocked("") }) }

// change is the one door to the state: what follows from a change is done here.
func (s *slots) change(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	s.fillLocked()
}

// fillLocked parks what may be parked, and gives the free slots away.
func (s *slots) fillLocked() {
	if s.begunLocked() == 0 {
		s.idle()
	}
	for s.giveOneLocked() || s.parkOneLocked() {
	}
	switch {
	case s.takenLocked() < s.limit:
		s.full = time.Time{}
	case s.full.IsZero():
		s.full = time.Now()
	}
}

// parkOneLocked takes the slot of a turn that asks, if it may wait without, or if one that was
// answered and gets that slot has its place among those that do: that is not to wait for a
// further answer. There is no free slot to give away.
func (s *slots) parkOneLocked() bool {
	full := len(s.in[slotParked])+len(s.in[slotReturning]) >= s.most
	for _, asking := range s.in[slotAsking] {
		if !full || slices.ContainsFunc(s.in[slotReturning], func(j *slot) bool { return s.hasOneLocked(j, asking) }) {
			asking.enterLocked(slotParked)
			return true
		}
	}
	return false
}

// giveOneLocked gives a free slot away, if a job waits for one.
func (s *slots) giveOneLocked() bool {
	next := s.nextLocked()
	if next == nil {
		return false
	}
	next.enterLocked(slotWorking)
	s.full = time.Time{}
	if next.granted != nil {
		next.granted()
	}
	return true
}

// nextLocked is the job that gets a slot next, nil if none waits that there is one for.
func (s *slots) nextLocked() *slot {
	for _, waiting := range [][]*slot{s.in[slotReturning], s.in[slotQueued]} {
		if i := slices.IndexFunc(waiting, func(j *slot) bool { return s.hasOneLocked(j, nil) }); i >= 0 {
			return waiting[i]
		}
	}
	return nil
}

// hasOneLocked reports whether there is a slot for a job beside those that are held, but the one of
// left. What other agents hold beyond their share takes nothing from the user's.
func (s *slots) hasOneLocked(j, left *slot) bool {
	users, peers := s.heldLocked(left)
	share := max(1, s.limit-1)
	if j.peer {
		return peers < share && users+peers < s.limit
	}
	return users+min(peers, share) < s.limit
}

// heldLocked counts the slots that are held, but the one of left.
func (s *slots) heldLocked(left *slot) (users, peers int) {
	for _, state := range []slotState{slotWorking, slotAsking} {
		for _, j := range s.in[state] {
			switch {
			case j == left:
			case j.peer:
				peers++
			default:
				users++
			}
		}
	}
	return users, peers
}

// enterLocked changes the state of a job.
func (j *slot) enterLocked(state slotState) {
	if from := j.of.in; j.state != "" {
		from[j.state] = slices.DeleteFunc(from[j.state], func(other *slot) bool { return other == j })
	}
	if j.state = state; state != "" {
		j.of.in[state] = append(j.of.in[state], j)
	}
}

// takenLocked counts the slots that are held.
func (s *slots) takenLocked() int { return len(s.in[slotWorking]) + len(s.in[slotAsking]) }

// begunLocked counts the jobs that have got beyond the queue.
func (s *slots) begunLocked() int {
	return s.takenLocked() + len(s.in[slotParked]) + len(s.in[slotReturning])
}

// settle does what is to be done while no turn is begun, if none is.
func (s *slots) settle() { s.change(func() {}) }

// isIdle reports whether no turn is begun.
func (s *slots) isIdle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begunLocked() == 0
}

// canPark reports whether one more turn that asks would find a place without a slot.
func (s *slots) canPark() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.in[slotAsking])+len(s.in[slotParked])+len(s.in[slotReturning]) < s.most
}

// ahead counts the slots that are held, and the turns that come before the queue.
func (s *slots) ahead() (taken, returning int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.takenLocked(), len(s.in[slotReturning])
}

// Slots is how the slots stand that turns work in.
type Slots struct {
	Limit     int       `json:"limit"`
	Working   int       `json:"working"`
	Asking    int       `json:"asking"`        // held by turns that wait for answers: too many wait without a slot
	Parked    int       `json:"parked"`        // turns that wait for answers and hold none
	Returning int       `json:"returning"`     // turns that have been answered and wait for one
	Full      time.Time `json:"full,omitzero"` // since when all are taken, and none was given to another job; zero if one is free
}

// begun counts the turns that are begun.
func (s Slots) begun() int { return s.Working + s.Asking + s.Parked + s.Returning }

func (s *slots) standing() Slots {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Slots{
		Limit: s.limit, Working: len(s.in[slotWorking]), Asking: len(s.in[slotAsking]), Parked: len(s.in[slotParked]),
		Returning: len(s.in[slotReturning]), Full: s.full,
	}
}
