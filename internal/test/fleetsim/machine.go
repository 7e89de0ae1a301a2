package fleetsim

import (
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// A machine as it is, and what the placer was told of it. Its fields are guarded by the run's lock.
type machine struct {
	name     string
	turns    int
	labels   placement.Labels
	alive    bool
	leaves   bool // no new turns: it is out of the roster
	draining bool
	others   int
	running  map[*talk]*visit

	told  told
	room  time.Time // since when it is known to have room; zero if not
	works time.Time // since when it is known to take turns, if it has room
	bad   time.Time // since when it is known not to be for turns that could go elsewhere
}

// told is what the placer knows.
type told struct {
	state    placement.State
	draining bool
	others   int
}

// A visit is a turn of a conversation on a machine.
type visit struct {
	gone chan struct{} // closed when the runtime takes the machine for lost
	cut  bool          // the machine has died under it, or was dead
}

func newMachine(name string, turns int, gpu bool) *machine {
	m := &machine{name: name, turns: turns, labels: placement.Labels{"os": "linux"}, running: map[*talk]*visit{}, told: told{state: placement.Awaited}}
	if gpu {
		m.labels["gpu"] = "yes"
	}
	return m
}

// mine is how many turns of ours run on it.
func (m *machine) mine() (n int) {
	for _, v := range m.running {
		if !v.cut {
			n++
		}
	}
	return n
}

func (m *machine) status() wire.Status {
	return wire.Status{
		Name: m.name, Labels: m.labels, Turns: m.turns, Taken: m.others + m.mine(), Mine: m.mine(), Draining: m.draining,
	}
}

// takes says whether the placer knows that the machine takes turns.
func (t told) takes() bool { return t.state == placement.Up && !t.draining }

// isBad says whether the placer knows that conversations should leave it.
func (t told) isBad() bool {
	return t.state == placement.Lost || t.state == placement.Left || t.state == placement.Up && t.draining
}

// refuses says whether the machine refuses a turn more, and whether the placer could have known.
func (m *machine) refuses() (refuses, known bool) {
	full := m.others+m.mine() >= m.turns
	return full || m.draining || m.leaves, m.told == told{placement.Up, m.draining, m.others}
}

// note keeps the times since when it is what the placer has been told.
func (m *machine) note() {
	since := func(at *time.Time, is bool) {
		switch {
		case !is:
			*at = time.Time{}
		case at.IsZero():
			*at = time.Now()
		}
	}
	since(&m.works, m.told.takes())
	since(&m.bad, m.told.isBad())
	since(&m.room, m.told.takes() && m.alive && !m.draining && !m.leaves && max(m.others, m.told.others)+len(m.running) < m.turns)
}

// lasts says whether it is longer ago than d that something began, and that it goes on.
func lasts(since time.Time, d time.Duration) bool {
	return !since.IsZero() && time.Since(since) > d
}

// fits says whether it has the labels that a conversation needs.
func (m *machine) fits(t *talk) bool {
	for key, value := range t.ask.Needs {
		if m.labels[key] != value {
			return false
		}
	}
	return true
}
