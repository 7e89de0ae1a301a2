package fleetsim

import (
	"fmt"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// busy is how many times as often others take turns or end them as something else happens.
const busy = 10

// station is a place for one machine after the other: what happens to it is drawn, until the calm. Then it is up.
func (r *run) station(n int) {
	d := drawOf(r.seed, "machine", n)
	m := r.join(n, 0, nil, d)
	for joined := 1; r.sleep(d.about(r.weather.happens / busy)); {
		switch p := d.Float64() * 100 * busy; {
		case p < r.weather.dies:
			r.dies(m, d)
		case p < r.weather.dies+r.weather.blinks:
			r.blinks(m, d)
		case p < r.weather.dies+r.weather.blinks+r.weather.drains:
			r.drains(m, d)
		case p < r.weather.dies+r.weather.blinks+r.weather.drains+r.weather.leaves:
			r.leaves(m, d)
			r.sleep(d.between(0, 10*time.Minute))
			m = r.join(n, joined, m, d)
			joined++
		default:
			r.change(m, d, func() { m.others = min(d.IntN(int(float64(m.turns)*r.weather.others)+1), m.turns-m.mine()) })
		}
	}
	r.change(m, d, func() { m.others = 0 })
}

// join has a machine join: another one than the one before, or that again.
func (r *run) join(n, again int, before *machine, d draw) *machine {
	m := before
	if again == 0 || d.happens(50) {
		m = newMachine(fmt.Sprintf("m%d-%d", n, again), r.weather.turnsOf(n), n/3%r.weather.gpus == 0)
	}
	r.change(m, d, func() {
		m.alive, m.leaves, m.draining, m.others = true, false, false, 0
		r.machines[m.name] = m
	})
	return m
}

// change does something to a machine, of which the placer hears a little later.
func (r *run) change(m *machine, d draw, do func()) {
	r.mu.Lock()
	do()
	m.note()
	r.mu.Unlock()
	time.Sleep(d.between(0, r.weather.lag))
	r.report(m)
}

func (r *run) report(m *machine) {
	var status wire.Status
	r.tell(m, func() {
		status = m.status()
		m.told = told{placement.Up, m.draining, m.others}
	}, func() { r.placer.Report(status) })
}

// tell notes what the placer is told, and tells it.
func (r *run) tell(m *machine, note, tell func()) {
	r.mu.Lock()
	note()
	m.note()
	r.mu.Unlock()
	tell()
}

// dies: the turns on it are cut, which the runtime knows when the machine has been silent, or is back as another process.
func (r *run) dies(m *machine, d draw) {
	r.mu.Lock()
	m.alive, m.draining, m.others = false, false, 0
	r.stats.Deaths++
	for _, v := range m.running {
		v.cut = true
	}
	m.note()
	r.mu.Unlock()
	if !d.happens(30) {
		r.doubt(m)
		time.Sleep(wire.Silence - wire.Beat)
		r.lose(m)
		r.sleep(d.about(10 * time.Minute))
	} else {
		time.Sleep(d.between(0, wire.Beat))
		r.lose(m)
	}
	r.change(m, d, func() { m.alive = true })
}

func (r *run) doubt(m *machine) {
	time.Sleep(wire.Beat)
	r.tell(m, func() { m.told.state = placement.Doubted }, func() { r.placer.Doubt(m.name) })
}

// lose has the runtime take a machine for lost, and end the turns there.
func (r *run) lose(m *machine) {
	var gone []*visit
	r.tell(m, func() {
		if m.told.state != placement.Left {
			m.told.state = placement.Lost
		}
		for t, v := range m.running {
			gone = append(gone, v)
			delete(m.running, t)
		}
	}, func() { r.placer.Lose(m.name) })
	for _, v := range gone {
		close(v.gone)
	}
}

// blinks: it is not heard of for a moment, in which all goes on.
func (r *run) blinks(m *machine, d draw) {
	r.doubt(m)
	time.Sleep(d.between(0, wire.Silence-wire.Beat-time.Millisecond))
	r.report(m)
}

func (r *run) drains(m *machine, d draw) {
	r.change(m, d, func() { m.draining = true })
	r.sleep(d.about(10 * time.Minute))
	r.change(m, d, func() { m.draining = false })
}

// leaves: it is taken out of the roster, and ended when its turns have ended, or after a time.
func (r *run) leaves(m *machine, d draw) {
	r.tell(m, func() { m.leaves, m.told.state = true, placement.Left }, func() { r.placer.Remove(m.name) })
	r.sleep(d.between(time.Second, time.Minute))
	r.mu.Lock()
	m.alive = false
	for _, v := range m.running {
		v.cut = true
	}
	r.mu.Unlock()
	r.lose(m)
}
