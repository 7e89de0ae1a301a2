package fleet_test

import (
	"context"
	"testing"
	"time"
)

// TestAnotherAddress: a machine that is in the list under another address, while a turn runs there, is the same: the turn goes on,
// and the machine is used again by that address behind it. A turn there then is of another way for codex.
func TestAnotherAddress(t *testing.T) {
	t.Parallel()
	simulated(t, []string{"m1"}, func(r *rig) {
		m := r.on["m1"]
		m.set(true, func() { m.dead = true })
		time.Sleep(3 * time.Second)
		m.set(false, func() { m.dead = false }) // with a loss behind it
		time.Sleep(3 * time.Second)
		p := r.take("a")
		p.Begin("thread")
		r.on["n1"] = m.alias()
		r.list("https://n1:1")
		time.Sleep(5 * time.Second)
		if err := context.Cause(p.Lost()); err != nil {
			r.Errorf("the turn is cut off: %v", err)
		}
		p.Leave("")
		time.Sleep(5 * time.Second)
		again := r.take("a")
		if again.On().Machine != "m1" || again.On().ID == p.On().ID {
			r.Errorf("it was on %+v and is on %+v", p.On(), again.On())
		}
		if err := context.Cause(again.Lost()); err != nil {
			r.Error(err)
		}
	})
}
