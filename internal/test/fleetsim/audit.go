package fleetsim

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

const (
	lookEvery = 10 * time.Second
	soon      = 3 * time.Second  // within which a turn has its machine, if there is one
	awhile    = 15 * time.Minute // that a machine takes turns, until it has as many conversations as others
	warm      = 30 * time.Minute // that the fleet has room, until that holds
	uneven    = 1.5
	enough    = 20 // conversations a machine, on average, for placement to be even
	fair      = 15 // of them for a machine, by what it can run, for it to be compared
)

// audit looks at how things stand, until the end.
func (r *run) audit() {
	for n := 1; ; n++ {
		select {
		case <-time.After(lookEvery + 7*time.Nanosecond): // at a time of its own
		case <-r.rests:
			return
		}
		r.nothingIsStuck()
		r.isCrowded()
		if n%6 == 0 {
			r.booksAgree()
			if time.Since(r.crowded) > warm && r.goesOn() {
				r.isEven()
			}
		}
		if n%120 == 0 {
			r.twinsAgree(n)
		}
	}
}

// begin is a turn that the placer has given a machine; nil if that refuses it.
func (r *run) begin(t *talk, on string) *visit {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.machines[on]
	if m.told.state == placement.Lost || m.told.state == placement.Left && !m.alive {
		return nil // at this very instant
	}
	if before := t.on; m.alive && t.visit != nil && before.running[t] == t.visit && !t.visit.cut {
		r.blame("%s has a turn on %s, and one on %s", t.ask.Conversation, before.name, m.name)
	}
	refuses, known := m.refuses()
	if m.alive && refuses {
		r.stats.Refused++
		if known {
			r.blame("%s is sent to %s, which is known to take no more: %d of %d", t.ask.Conversation, m.name, m.others+m.mine(), m.turns)
		}
		return nil
	}
	r.mayBegin(t, m)
	v := &visit{gone: make(chan struct{}), cut: !m.alive}
	t.on, t.visit = m, v
	m.running[t] = v
	m.note()
	delete(r.waiting, t)
	r.stats.Longest = max(r.stats.Longest, time.Since(t.asked))
	return v
}

// mayBegin checks that a conversation has come to a machine as it should.
func (r *run) mayBegin(t *talk, m *machine) {
	if n := len(m.running) + 1; n > m.turns {
		r.blame("%s has %d turns of ours, and may have %d", m.name, n, m.turns)
	}
	if !m.fits(t) {
		r.blame("%s is on %s, which has only %v", t.ask.Conversation, m.name, m.labels)
	}
	if before := t.on; before != nil && before != m {
		r.stats.Moved++
		if !before.told.isBad() || !t.ask.Movable {
			r.blame("%s goes from %s to %s; movable: %t, told: %+v", t.ask.Conversation, before.name, m.name, t.ask.Movable, before.told)
		}
	}
	for w := range r.waiting {
		if w != t && w.on == nil && w.asked.Before(t.asked) && m.fits(w) && w.turn.Machine() == "" {
			r.blame("%s, of %v, is on %s before %s, of %v", t.ask.Conversation, t.asked.Sub(r.began), m.name, w.ask.Conversation, w.asked.Sub(r.began))
		}
	}
}

// nothingIsStuck: each turn that waits has no machine that it could have had for long.
func (r *run) nothingIsStuck() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for t := range r.waiting {
		if time.Since(t.asked) < soon {
			continue
		}
		for _, m := range r.machines {
			own := t.on == nil || t.on == m || t.ask.Movable && lasts(t.on.bad, soon)
			if own && m.fits(t) && lasts(m.room, soon) {
				w := t.turn.Waits()
				r.blame("%s waits since %v, and %s has room since %v; it is said to wait for %q", t.ask.Conversation, t.asked.Sub(r.began), m.name, m.room.Sub(r.began), w.Text)
				break
			}
		}
	}
}

// placed counts the conversations of each machine, or those that could be on any. The caller holds the lock.
func (r *run) placed(all bool) map[string]int {
	n := map[string]int{}
	for t := range r.known {
		if t.on != nil && (all || len(t.ask.Needs) == 0) {
			n[t.on.name]++
		}
	}
	return n
}

// booksAgree: the placer counts what there is.
func (r *run) booksAgree() {
	r.mu.Lock()
	defer r.mu.Unlock()
	placed := r.placed(true)
	for _, m := range r.placer.Machines() {
		if m.Placed != placed[m.Name] || m.Running != len(r.machines[m.Name].running) {
			r.blame("the placer has %d conversations on %s, with %d turns, and there are %d, with %d", m.Placed, m.Name, m.Running, placed[m.Name], len(r.machines[m.Name].running))
		}
		delete(placed, m.Name)
	}
	for name, n := range placed {
		r.blame("the placer does not know %s, on which there are %d conversations", name, n)
	}
}

// isCrowded notes when few machines have room: then a conversation goes to any that has, and not to the emptiest.
func (r *run) isCrowded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	turns, free := 0, 0
	for _, m := range r.machines {
		if m.told.takes() && m.alive {
			turns += m.turns
			free += max(0, m.turns-m.others-len(m.running))
		}
	}
	if turns*4 < r.turns*3 || free*100 < turns*15 {
		r.crowded = time.Now()
	}
}

// isEven: of the machines that have taken turns for a while, none has many more conversations than another, for what it can run.
// Those that need what few machines have do not count where they make many: they have nowhere else to go.
func (r *run) isEven() {
	r.mu.Lock()
	defer r.mu.Unlock()
	all, anywhere := r.placed(true), r.placed(false)
	var judged []*machine
	placed, turns := 0, 0
	for _, m := range r.machines {
		if lasts(m.works, awhile) {
			judged, placed, turns = append(judged, m), placed+all[m.name], turns+m.turns
		}
	}
	least, most := share{}, share{}
	for _, m := range judged {
		if placed*m.turns < fair*turns {
			continue
		}
		if s := (share{m, all[m.name]}); least.m == nil || s.load() < least.load() {
			least = s
		}
		if s := (share{m, anywhere[m.name]}); most.m == nil || s.load() > most.load() {
			most = s
		}
	}
	if least.m == nil || placed < enough*len(judged) {
		return
	}
	r.stats.Looks++
	r.stats.Uneven = max(r.stats.Uneven, most.load()/least.load())
	if most.load() > uneven*least.load() {
		r.blame("%v, and %v", most, least)
	}
}

// A share is the conversations that are counted on a machine.
type share struct {
	m *machine
	n int
}

func (s share) load() float64 { return float64(s.n) / float64(s.m.turns) }

func (s share) String() string {
	return fmt.Sprintf("%s has %d conversations for %d turns", s.m.name, s.n, s.m.turns)
}

// twinsAgree: two that know the same decide the same, in whatever order they have come to know it.
func (r *run) twinsAgree(n int) {
	machines, on := r.placer.Machines(), map[string]string{}
	r.mu.Lock()
	for t := range r.known {
		if t.on != nil {
			on[t.ask.Conversation] = t.on.name
		}
	}
	r.mu.Unlock()
	d := drawOf(r.seed, "twins", n)
	one, other := twin(machines, on, d.Rand), twin(machines, on, d.Rand)
	for i := range 20 {
		ask := placement.Ask{Conversation: fmt.Sprint("twin", i)}
		if a, b := one.Place(ask).Machine(), other.Place(ask).Machine(); a != b {
			r.fault("a conversation is placed on %q, and on %q by another that knows the same", a, b)
			return
		}
	}
}

func twin(machines []placement.Machine, on map[string]string, d *rand.Rand) *placement.Placer {
	p := placement.New()
	for _, i := range d.Perm(len(machines)) {
		if m := machines[i]; m.State == placement.Up {
			p.Report(wire.Status{Name: m.Name, Labels: m.Labels, Turns: m.Turns, Taken: m.Others + m.Running, Draining: m.Draining})
		}
	}
	for conversation, machine := range on { // in an order of its own each time
		p.Load(conversation, machine)
	}
	return p
}

// atTheEnd: nothing waits, nothing runs, and all machines have room.
func (r *run) atTheEnd() {
	r.booksAgree()
	for _, m := range r.placer.Machines() {
		if m.Running != 0 || m.Waiting != 0 {
			r.fault("at the end %s has %d turns, and %d wait for it", m.Name, m.Running, m.Waiting)
		}
	}
	if waiting := r.stands(); waiting != "" {
		r.fault("at the end these wait: %s", waiting)
	}
}

// stands is how the turns that wait stand.
func (r *run) stands() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for t := range r.waiting {
		fmt.Fprintf(&b, "\n\t%s since %v: %s", t.ask.Conversation, t.asked.Sub(r.began), t.turn.Waits().Text)
	}
	return b.String()
}
