package fleet_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// TestDeath: a machine that takes no connections any more has lost its turns within a second or two, and is used again when it
// is back, where the conversation that it had has moved away.
func TestDeath(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1", "m2"}, func(r *rig) {
		p := r.take("a")
		at := r.on[p.On().Machine]
		r.on[at.name].set(true, func() { at.dead, at.life = true, at.life+1 })
		after, why := r.lost(p)
		if after > 2*time.Second || why != "machine "+at.name+": it has ended: it takes no connections" {
			r.Errorf("after %v: %s", after, why)
		}
		p.Leave("")
		time.Sleep(time.Second)
		if !at.isRefused() {
			r.Error("codex is not refused")
		}
		again := r.take("a")
		if again.On().Machine == at.name || !strings.Contains(again.News(), at.name) {
			r.Errorf("it goes on on %s, with %q", again.On().Machine, again.News())
		}
		again.Begin("thread")
		again.Leave("")
		at.set(false, func() { at.dead = false })
		time.Sleep(3 * time.Second)
		if at.isRefused() {
			r.Error("codex is refused although the machine is back")
		}
		if third := r.take("a"); third.On() != again.On() || third.News() != "" {
			r.Errorf("it has moved back to %s, with %q", third.On().Machine, third.News())
		}
		if b := r.take("b"); b.On().Machine != at.name {
			r.Errorf("the machine that is back is not used: %s", b.On().Machine)
		}
	})
}

// TestSilence: one that is only silent is lost sooner than it ends by itself what runs there, and the words say what is not
// known.
func TestSilence(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1"}, func(r *rig) {
		p := r.take("a")
		r.on["m1"].set(false, func() { r.on["m1"].cut = true })
		after, why := r.lost(p)
		if after > 4*time.Second || after < 3*time.Second || !strings.Contains(why, "Whether a command still runs there is not known") {
			r.Errorf("after %v: %s", after, why)
		}
	})
}

// TestBlink: a connection that breaks and comes back loses nothing, unless the machine is another process by then.
func TestBlink(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1"}, func(r *rig) {
		p := r.take("a")
		m := r.on["m1"]
		m.set(true, func() {})
		time.Sleep(10 * time.Second)
		if err := context.Cause(p.Lost()); err != nil {
			r.Errorf("a blink has lost it: %v", err)
		}
		m.set(false, func() { m.exec++ })
		time.Sleep(2 * time.Second)
		if err := context.Cause(p.Lost()); err != nil {
			r.Errorf("its first exec-server has lost it: %v", err)
		}
		m.set(false, func() { m.exec++ })
		if after, why := r.lost(p); after > time.Second || !strings.Contains(why, "was started anew") {
			r.Errorf("after %v: %s", after, why)
		}
		p.Leave("")
		p = r.take("a")
		m.set(true, func() { m.life++ })
		if after, why := r.lost(p); after > time.Second || !strings.Contains(why, "was started anew") {
			r.Errorf("after %v: %s", after, why)
		}
	})
}

// TestRefused: a machine that refuses a turn for good cuts it off, and is asked for no other until it has been heard.
func TestRefused(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1"}, func(r *rig) {
		m := r.on["m1"]
		m.set(false, func() { m.odd = true })
		p := r.take("a")
		p.Begin("thread")
		if after, why := r.lost(p); after > 0 || why != "machine m1: it does not take the turn: it is odd" {
			r.Errorf("after %v: %s", after, why)
		}
		p.Leave("")
		if none := r.none("a"); !strings.Contains(none.Why, "m1 has refused a turn") {
			r.Errorf("it waits for %q", none.Why)
		}
		m.set(false, func() { m.odd = false })
		time.Sleep(2 * wire.Beat)
		p = r.take("a")
		p.Begin("thread")
		synctest.Wait()
		if !m.has(&m.begun, 1) || !m.has(&m.ended, 0) {
			r.Errorf("begun %v, ended %v", m.begun, m.ended)
		}
		p.Leave("")
		synctest.Wait()
		if !m.has(&m.ended, 1) {
			r.Errorf("begun %v, ended %v", m.begun, m.ended)
		}
	})
}

// TestFull: a machine that has no room after all costs a turn nothing that has begun, and is told of it again.
func TestFull(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1"}, func(r *rig) {
		m := r.on["m1"]
		m.set(false, func() { m.full = true })
		p := r.take("a")
		p.Begin("thread")
		time.Sleep(10 * wire.Beat)
		m.set(false, func() { m.full = false })
		time.Sleep(2 * wire.Beat)
		if err := context.Cause(p.Lost()); err != nil || !m.has(&m.begun, 1) {
			r.Errorf("%v, begun %v", err, m.begun)
		}
		p.Leave("")
		m.set(false, func() { m.full = true })
		p = r.take("b")
		p.Begin("thread")
		synctest.Wait()
		p.Leave("") // before there was room
		time.Sleep(2 * wire.Beat)
		if !m.has(&m.ended, 1) {
			r.Errorf("begun %v, ended %v", m.begun, m.ended)
		}
	})
}

// TestRoom: beyond what a machine can run turns wait in words, are woken, and have an end to their wait.
func TestRoom(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1"}, func(r *rig) {
		first := r.take("1")
		for _, name := range []string{"2", "3", "4"} {
			r.take(name)
		}
		none := r.none("5")
		if !strings.Contains(none.Why, "m1") || time.Until(none.Until) != time.Minute {
			r.Errorf("it waits for %q until %v", none.Why, none.Until)
		}
		time.Sleep(time.Second)
		if again := r.none("5"); !again.Until.Equal(none.Until) {
			r.Error("asking again has made the wait longer")
		}
		first.Leave("")
		synctest.Wait()
		<-none.Changed
		r.take("5").Leave("")
	})
}

// TestReset: all that runs is said to be over, and what is taken after it is of the new time.
func TestReset(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1", "m2"}, func(r *rig) {
		p := r.take("a")
		r.on["m2"].set(true, func() { r.on["m2"].dead = true })
		time.Sleep(3 * time.Second)
		began := time.Now()
		r.Reset(r.Context())
		if took := time.Since(began); took > 100*time.Millisecond {
			r.Errorf("it took %v", took)
		}
		if context.Cause(p.Lost()) == nil {
			r.Error("what ran goes on")
		}
		m := r.on["m1"]
		if n := len(m.epochs); n != 2 || m.epochs[0] >= m.epochs[1] {
			r.Errorf("epochs %v", m.epochs)
		}
	})
}

// TestRestart: a runtime that is started again has conversations where they were.
func TestRestart(t *testing.T) {
	t.Parallel()
	names := []string{"m1", "m2", "m3"}
	simulated(t, names, func(r *rig) {
		before := map[string]string{}
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			before[name] = r.take(name).On().Machine
		}
		if err := r.Close(); err != nil {
			r.Error(err)
		}
		r.open(names)
		for name, on := range before {
			if p := r.take(name); p.On().Machine != on || p.News() != "" {
				r.Errorf("%s was on %s and is on %s, with %q", name, on, p.On().Machine, p.News())
			}
		}
	})
}

// TestOneName: of two machines with one name the second is not used, until the first is gone.
func TestOneName(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1", "m2"}, func(r *rig) {
		r.on["m2"].set(true, func() { r.on["m2"].dead = true })
		time.Sleep(3 * time.Second)
		r.on["m2"].set(false, func() { r.on["m2"].dead, r.on["m2"].name = false, "m1" })
		time.Sleep(3 * time.Second)
		all, _ := r.Overview()
		refused := 0
		for _, m := range all {
			if m.State == fleet.Refused && strings.Contains(m.Why, "another machine with the name m1") {
				refused++
			}
		}
		if refused != 1 {
			r.Errorf("the machines are %+v", all)
		}
		p := r.take("a")
		if p.On().URL != "ws://m1" {
			r.Errorf("it is on %v", p.On())
		}
		r.on["m1"].set(true, func() { r.on["m1"].dead = true })
		r.lost(p)
		p.Leave("")
		time.Sleep(3 * time.Second)
		r.take("b").Leave("")
	})
}

// TestRetired: a machine that is taken from the list gets no new turns, and those that run there go on to their ends.
func TestRetired(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1"}, func(r *rig) {
		p := r.take("a")
		r.list("https://m2:2")
		time.Sleep(3 * time.Second)
		if err := context.Cause(p.Lost()); err != nil {
			r.Errorf("its turn is cut off: %v", err)
		}
		if b := r.take("b"); b.On().Machine != "m2" {
			r.Errorf("it is on %s", b.On().Machine)
		}
		p.Leave("")
		if again := r.take("a"); again.On().Machine != "m2" {
			r.Errorf("it is on %s", again.On().Machine)
		}
		time.Sleep(3 * time.Second)
		if all, _ := r.Overview(); len(all) != 1 || all[0].Name != "m2" {
			r.Errorf("the machines are %+v", all)
		}
	})
}

// TestForgotten: a conversation that is forgotten counts no more, and the next of its name is a new one.
func TestForgotten(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1"}, func(r *rig) {
		r.take("a").Leave("")
		r.Forget(r.Context(), "a")
		if all, _ := r.Overview(); all[0].Conversations != 0 {
			r.Errorf("the machine has %d conversations", all[0].Conversations)
		}
		delete(r.at, "a") // as the store does
		if r.take("a").Leave(""); r.at["a"] != "m1" {
			r.Errorf("kept are %v", r.at)
		}
	})
}
