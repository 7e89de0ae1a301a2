package fleetsim

import (
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
)

// A talk is a conversation. Its fields are guarded by the run's lock.
type talk struct {
	ask   placement.Ask
	on    *machine        // that it is on, since its last turn
	visit *visit          // its last turn on a machine
	turn  *placement.Turn // that it has asked for
	asked time.Time
}

const (
	patience = 10 * time.Minute // for a machine
	stranded = 2 * time.Minute  // for its own, which is lost
	// mostRefused is how often a turn is refused by machines of which the placer does not know yet that they take no more.
	mostRefused = 50
)

// talks is a place for one conversation after the other, until the calm.
func (r *run) talks(n int) {
	d := drawOf(r.seed, "talks", n)
	if !r.sleep(d.between(0, 10*time.Minute)) {
		return
	}
	for again := 0; r.goesOn(); again++ {
		t := &talk{ask: placement.Ask{Conversation: fmt.Sprintf("c%d.%d", n, again), Movable: !d.happens(r.weather.fixed)}}
		if d.happens(r.weather.gpu) {
			t.ask.Needs = placement.Labels{"gpu": "yes"}
		}
		end := time.Now().Add(d.about(r.weather.life))
		for lacks := 0; time.Now().Before(end) && lacks < 3; {
			if lacks++; r.turn(t, d) {
				lacks = 0
			}
			if !r.sleep(d.about(r.weather.idle)) {
				return
			}
		}
		r.forget(t)
	}
}

func (r *run) forget(t *talk) {
	r.mu.Lock()
	t.on = nil
	delete(r.known, t)
	r.mu.Unlock()
	r.placer.Forget(t.ask.Conversation)
}

// turn asks for a turn and has it; it reports whether there was a machine in time.
func (r *run) turn(t *talk, d draw) bool {
	r.mu.Lock()
	r.known[t] = true
	t.asked = time.Now()
	r.mu.Unlock()
	turn := r.placer.Place(t.ask)
	waits := time.NewTimer(patience)
	defer waits.Stop()
	for refused := 0; ; {
		on := turn.Machine()
		r.waits(t, turn, on == "")
		if on != "" {
			if v := r.begin(t, on); v != nil {
				r.has(t, v, turn, d)
				return true
			}
			if refused++; refused > mostRefused {
				r.fault("%s is refused again and again, by %s at last", t.ask.Conversation, on)
				return r.givesUp(t, turn)
			}
			turn = turn.Refused()
			continue
		}
		select {
		case <-turn.Changed():
			if w := turn.Waits(); w.For == placement.Stranded {
				waits.Reset(stranded)
			}
		case <-waits.C:
			return r.givesUp(t, turn)
		}
	}
}

// givesUp ends a turn that waits. It may have got a machine at this instant.
func (r *run) givesUp(t *talk, turn *placement.Turn) bool {
	turn.End()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats.GaveUp++
	delete(r.waiting, t)
	if on := turn.Machine(); on != "" {
		t.on = r.machines[on]
	}
	return false
}

// waits notes whether a conversation waits for a machine.
func (r *run) waits(t *talk, turn *placement.Turn, waits bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t.turn = turn
	if waits && !r.waiting[t] {
		r.waiting[t] = true
		r.stats.Waited++
	}
}

// has is a turn on its machine, until it ends or the machine is lost.
func (r *run) has(t *talk, v *visit, turn *placement.Turn, d draw) {
	ends := time.NewTimer(time.Second + d.about(r.weather.turn-time.Second))
	defer ends.Stop()
	select {
	case <-ends.C:
		if r.end(t, v) {
			turn.End()
			return
		}
		<-v.gone
	case <-v.gone:
	}
	if d.happens(r.weather.unended) {
		return // the placer knows that it is over
	}
	time.Sleep(d.between(0, 2*time.Second))
	turn.End()
}

// end is of a turn that its machine ends, unless that is dead.
func (r *run) end(t *talk, v *visit) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v.cut {
		return false
	}
	delete(t.on.running, t)
	t.on.note()
	r.stats.Turns++
	return true
}
