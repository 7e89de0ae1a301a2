package placement

import (
	"maps"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// A State is how a machine is known.
type State int

// The states of a machine.
const (
	Up      State = iota // it reports
	Doubted              // it has not reported for a moment
	Lost                 // it is gone, with all that ran on it
	Left                 // it stands in the roster no more
	Awaited              // it has conversations of before the start, and has not reported since
)

func (s State) String() string {
	return [...]string{"up", "doubted", "lost", "left", "awaited"}[s]
}

// A machine is what is known of one. Its fields are guarded by the placer's lock.
type machine struct {
	name     string
	hash     uint64
	state    State
	labels   Labels
	turns    int // that may run on it at a time
	others   int // that run on it and are not ours
	draining bool
	trouble  string
	refused  bool // it has refused a turn, and has not reported since
	placed   int  // conversations
	running  map[*Turn]struct{}
	line     line // of turns that wait for this machine alone
}

// hear takes in what a machine reports, and says whether more than counts have changed.
func (m *machine) hear(s wire.Status) (changed bool) {
	changed = m.state != Up || m.draining != s.Draining || m.trouble != s.Trouble || !maps.Equal(m.labels, s.Labels)
	if changed {
		m.labels = maps.Clone(s.Labels)
	}
	m.state, m.draining, m.trouble, m.refused = Up, s.Draining, s.Trouble, false
	m.turns, m.others = s.Turns, max(0, s.Taken-s.Mine)
	return changed
}

// takes says whether the machine takes turns at all.
func (m *machine) takes() bool { return m.state == Up && !m.draining && m.trouble == "" }

// hasRoom says whether one more may run.
func (m *machine) hasRoom() bool { return m.others+len(m.running) < m.turns && !m.refused }

// fits says whether it takes the turn, with room or without.
func (m *machine) fits(t *Turn) bool { return m.takes() && t.ask.Needs.within(m.labels) }

// emptier says whether a conversation goes to m rather than to other: both have room.
func (m *machine) emptier(other *machine, conversation uint64) bool {
	if a, b := m.placed*other.turns, other.placed*m.turns; a != b {
		return a < b
	}
	if a, b := mix(m.hash^conversation), mix(other.hash^conversation); a != b {
		return a > b
	}
	return m.name < other.name
}

// hashOf is the same in each process and each version, as conversations are placed by it: FNV-1a, mixed.
func hashOf(text string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return mix(h)
}

// mix has each bit of what comes out depend on each that goes in (the end of splitmix64).
func mix(x uint64) uint64 {
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	return x ^ x>>31
}
