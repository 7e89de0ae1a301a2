package fleet

import (
	"cmp"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// Shown is how a machine stands, for people and programs.
type Shown struct {
	Name          string            `json:"name"` // what it calls itself; its address while that is not known
	Address       string            `json:"address"`
	State         State             `json:"state"`
	Takes         bool              `json:"takes"`         // turns, with room or without
	Why           string            `json:"why,omitempty"` // it takes none, where that is not only since it drains
	Heard         time.Time         `json:"heard,omitzero"`
	Labels        map[string]string `json:"labels,omitempty"`
	Draining      bool              `json:"draining"`
	Turns         int               `json:"turns"`         // that may run on it at a time
	Taken         int               `json:"taken"`         // that run on it, of all runtimes
	Mine          int               `json:"mine"`          // of this one
	Conversations int               `json:"conversations"` // of this runtime that are on it
	Waiting       int               `json:"waiting"`       // turns that wait for this machine
	CPUs          int               `json:"cpus"`
	Load          float64           `json:"load"`
	Memory        int64             `json:"memory"`
	FreeDisk      int64             `json:"freeDisk"`
	Runtime       string            `json:"runtime"` // its version of this program
	Codex         string            `json:"codex"`   // and of codex
}

// Overview is how all machines stand, in the order of their names, and what is wrong with the list of them; nil if
// nothing is.
func (f *Fleet) Overview() (all []Shown, trouble error) {
	f.mu.Lock()
	for _, m := range f.members {
		all = append(all, m.shown())
	}
	trouble = f.trouble
	f.mu.Unlock()
	for _, known := range f.placer.Machines() {
		i := slices.IndexFunc(all, func(s Shown) bool { return s.Name == known.Name })
		if i < 0 {
			all = append(all, Shown{Name: known.Name, State: Unknown, Why: "it is not in the list of machines"})
			i = len(all) - 1
		}
		all[i].Mine, all[i].Conversations, all[i].Waiting = known.Running, known.Placed, known.Waiting
	}
	slices.SortFunc(all, func(a, b Shown) int { return cmp.Compare(a.Name, b.Name) })
	return all, trouble
}

func (m *member) shown() Shown {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, trouble := m.status, ""
	switch {
	case m.state == Up && m.leaves:
		trouble = "it is not in the list of machines any more"
	case m.state == Up:
		trouble = m.f.unusable(m.status)
	}
	return Shown{
		Name: cmp.Or(s.Name, m.address), Address: m.address, State: m.state, Heard: m.heard,
		Takes: m.state == Up && trouble == "" && !s.Draining, Why: cmp.Or(m.why, trouble),
		Labels: s.Labels, Draining: s.Draining, Turns: s.Turns, Taken: s.Taken, CPUs: s.CPUs, Load: s.Load, Memory: s.Memory,
		FreeDisk: s.FreeDisk, Runtime: s.Runtime, Codex: s.Codex,
	}
}

// Files says what kind of files conversations have on machines.
func (f *Fleet) Files() string { return cmp.Or(f.cfg.Files, wire.FilesShared) }

// Where is the machine that a conversation is on; empty if it has not had one yet.
func (f *Fleet) Where(conversation string) string { return f.placer.Where(conversation) }
