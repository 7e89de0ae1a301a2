package executor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// took takes a slot in the background and returns what take has returned.
func took(s *slots) <-chan *slot {
	got := make(chan *slot, 1)
	go func() {
		j, _ := s.take(context.Background(), false)
		got <- j
	}()
	synctest.Wait()
	return got
}

func wantSlots(t *testing.T, s *slots, want Slots) {
	t.Helper()
	got := s.standing()
	if got.Full = want.Full; got != want {
		t.Errorf("slots %+v, want %+v", got, want)
	}
}

// TestSlotOrder gives a free slot to a turn that was answered before those in the queue,
// and within each to the one that has waited for the longest.
func TestSlotOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 8, func() {})
		var asked []*slot
		for range 2 {
			j := <-took(s)
			j.park()
			asked = append(asked, j)
		}
		worker := <-took(s)
		first, second := took(s), took(s)
		order := make(chan int, 2)
		for i, j := range asked {
			if j.resume(func() { order <- i }) {
				t.Error("a turn goes on although the slot is taken")
			}
		}
		wantSlots(t, s, Slots{Limit: 1, Working: 1, Returning: 2})
		worker.release()
		asked[0].release()
		if len(first) > 0 || <-order != 0 || <-order != 1 {
			t.Error("the turns that were answered did not go on first, in their order")
		}
		asked[1].release()
		(<-first).release()
		(<-second).release()
		wantSlots(t, s, Slots{Limit: 1})
	})
}

// TestSlotsOfThoseThatAsk are kept by as many turns as ask beyond the bound, and given up
// when there is room.
func TestSlotsOfThoseThatAsk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(2, 1, func() {})
		one, two := <-took(s), <-took(s)
		one.park()
		two.park()
		wantSlots(t, s, Slots{Limit: 2, Asking: 1, Parked: 1})
		three := <-took(s)
		four := took(s)
		if !one.resume(nil) {
			t.Error("a turn that was answered waits for another that asks")
		}
		wantSlots(t, s, Slots{Limit: 2, Working: 2, Parked: 1})
		if two.resume(nil) {
			t.Error("a turn goes on although both slots are taken")
		}
		one.park() // it has to keep its slot for as long as nothing else wants it
		wantSlots(t, s, Slots{Limit: 2, Working: 2, Parked: 1})
		two.park()
		three.release()
		(<-four).release()
		for _, j := range []*slot{one, two} {
			j.release()
			j.release()
		}
		wantSlots(t, s, Slots{Limit: 2})
	})
}

// TestSlotIsSeized for a turn that the agent goes on with by itself: others wait until there
// are fewer than there may be.
func TestSlotIsSeized(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 1, func() {})
		one := <-took(s)
		one.park()
		two := <-took(s)
		three := took(s)
		one.seize()
		wantSlots(t, s, Slots{Limit: 1, Working: 2})
		one.release()
		if synctest.Wait(); len(three) > 0 {
			t.Error("a slot was given away that is taken")
		}
		two.release()
		(<-three).release()
	})
}

// TestSlotIsNotWaitedFor any longer than its context lasts.
func TestSlotIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 1, func() {})
		one := <-took(s)
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(ErrCanceled)
		if _, err := s.take(ctx, false); !errors.Is(err, ErrCanceled) {
			t.Errorf("take: %v", err)
		}
		one.park()
		two := <-took(s)
		if err := one.regain(ctx); !errors.Is(err, ErrCanceled) {
			t.Errorf("regain: %v", err)
		}
		one.release()
		if err := two.regain(ctx); err != nil {
			t.Errorf("regain of a slot that was never lost: %v", err)
		}
		two.release()
		wantSlots(t, s, Slots{Limit: 1})
	})
}

// TestSlotsAreIdle while no turn is begun: one that is parked is, and nothing begins
// before what waits for that is done.
func TestSlotsAreIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		idle := 0
		s := newSlots(1, 1, func() { idle++ })
		one := <-took(s)
		one.park()
		idle = 0
		if s.settle(); idle > 0 || s.isIdle() {
			t.Error("a turn that waits for an answer counts for none")
		}
		two := <-took(s)
		three := took(s)
		one.release()
		if two.release(); idle != 1 {
			t.Errorf("between two turns it was idle %d times", idle)
		}
		(<-three).release()
	})
}

// TestSlotsAreFull since one was given away last.
func TestSlotsAreFull(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(1, 1, func() {})
		one := <-took(s)
		two := took(s)
		since := s.standing().Full
		time.Sleep(time.Minute)
		if one.park(); !s.standing().Full.Equal(since.Add(time.Minute)) {
			t.Errorf("full since %s, and %s after the next has got it", since, s.standing().Full)
		}
		(<-two).release()
		if at := s.standing().Full; !at.IsZero() {
			t.Errorf("full since %s with a free slot", at)
		}
		one.release()
	})
}

// TestSlotOfAnEndedJob: a job that is canceled does not begin, although a slot is free.
func TestSlotOfAnEndedJob(t *testing.T) {
	t.Parallel()
	s := newSlots(1, 8, func() {})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrCanceled)
	if j, err := s.take(ctx, false); !errors.Is(err, ErrCanceled) || j != nil {
		t.Errorf("take = %v, %v", j, err)
	}
	wantSlots(t, s, Slots{Limit: 1})
}
