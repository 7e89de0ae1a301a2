package fleet_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// TestFrozen: a machine that was only frozen, or cut off, and is back sooner than it would end anything by itself, is asked in
// another epoch, with which all that it had ends.
func TestFrozen(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1"}, func(r *rig) {
		p, m := r.take("a"), r.on["m1"]
		m.set(false, func() { m.cut = true })
		r.lost(p)
		m.set(false, func() { m.cut = false })
		time.Sleep(5 * time.Second)
		again := r.take("a")
		m.mu.Lock()
		first, last := m.epochs[0], m.epochs[len(m.epochs)-1]
		m.mu.Unlock()
		if last <= first || context.Cause(again.Lost()) != nil {
			r.Errorf("the epochs are %v, and the next turn has %v", m.epochs, context.Cause(again.Lost()))
		}
	})
}

// TestEpochsGoOn: a process whose clock is behind that of the one before goes on behind that.
func TestEpochsGoOn(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1"}, func(r *rig) {
		if err := r.Close(); err != nil {
			r.Error(err)
		}
		m := r.on["m1"]
		m.mu.Lock()
		before := m.epochs[0]
		m.mu.Unlock()
		r.epoch += int64(time.Hour)
		r.open([]string{"m1"})
		m.mu.Lock()
		defer m.mu.Unlock()
		if now := m.epochs[len(m.epochs)-1]; now <= before+int64(time.Hour) {
			r.Errorf("it has said %d and says %d", before, now)
		}
	})
}

// TestShared: a machine that others use, too, is asked before a turn; one that is full then has the turn wait.
func TestShared(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1"}, func(r *rig) {
		m := r.on["m1"]
		m.set(false, func() { m.others, m.full = 2, true })
		time.Sleep(2 * wire.Beat)
		none := r.none("a")
		if !strings.Contains(none.Why, "machine m1 has no place for this conversation now: it is full") {
			r.Errorf("it waits for %q", none.Why)
		}
		m.set(false, func() { m.full = false })
		time.Sleep(2 * wire.Beat)
		p := r.take("a")
		if !m.has(&m.begun, 1) {
			r.Errorf("begun are %v before the turn", m.begun)
		}
		p.Begin("thread")
		synctest.Wait()
		p.Leave("")
		synctest.Wait()
		if !m.has(&m.begun, 1) || !m.has(&m.ended, 1) {
			r.Errorf("begun %v, ended %v", m.begun, m.ended)
		}
	})
}

// TestEndIsHeard: that a turn has ended is said until the machine has heard it, also of a turn that was lost.
func TestEndIsHeard(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1"}, func(r *rig) {
		p, m := r.take("a"), r.on["m1"]
		m.set(false, func() { m.exec = 1 })
		time.Sleep(2 * wire.Beat)
		p.Begin("thread")
		synctest.Wait()
		m.set(false, func() { m.deaf, m.exec = true, 2 })
		r.lost(p)
		p.Leave("")
		time.Sleep(time.Minute)
		m.set(false, func() { m.deaf = false })
		time.Sleep(5 * time.Second)
		if !m.has(&m.ended, 1) {
			r.Error("the machine was not told")
		}
	})
}

// TestNewsStays: what is news of a conversation's files is told to the model of the first turn that begins.
func TestNewsStays(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1", "m2"}, func(r *rig) {
		first := r.take("a")
		first.Begin("thread")
		first.Leave("")
		at := r.on[first.On().Machine]
		at.set(true, func() { at.dead = true })
		time.Sleep(3 * time.Second)
		for range 2 { // the first is prepared, and does not begin
			p := r.take("a")
			if !strings.Contains(p.News(), at.name) {
				r.Errorf("the news are %q", p.News())
			}
			p.Leave("")
		}
		p := r.take("a")
		p.Begin("thread")
		p.Leave("")
		if p := r.take("a"); p.News() != "" {
			r.Errorf("told twice: %q", p.News())
		}
	})
}

// TestFullUntilHeard: a machine that has not heard yet of an end, and so is full, costs the next turn nothing.
func TestFullUntilHeard(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1"}, func(r *rig) {
		m := r.on["m1"]
		first := r.take("a")
		first.Begin("thread")
		synctest.Wait()
		m.set(false, func() { m.deaf, m.full = true, true })
		first.Leave("")
		next := r.take("b")
		next.Begin("thread")
		time.Sleep(2 * wire.Beat)
		m.set(false, func() { m.deaf, m.full = false, false })
		time.Sleep(5 * wire.Beat)
		if err := context.Cause(next.Lost()); err != nil || !m.has(&m.begun, 2) || !m.has(&m.ended, 1) {
			r.Errorf("%v: begun %v, ended %v", err, m.begun, m.ended)
		}
		next.Leave("")
	})
}
