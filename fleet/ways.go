package fleet

import (
	"errors"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/client"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// catchUp has a machine be asked in the epoch that it knows, or a later one, where that is of this process: a list has had it
// under another address, or has it under two. It reports whether that is so.
func (m *member) catchUp(err error) bool {
	refused, is := errors.AsType[*client.RefusedError](err)
	if !is || refused.Code != wire.CodeSuperseded || !m.f.epochs.isOurs(refused.Epoch) {
		return false
	}
	epoch := refused.Epoch
	if !m.f.isOther(m, epoch) { // what was of that time is over
		epoch = m.f.epochs.next()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stay != nil { // which has ended with that: it is lost
		return false
	}
	m.epoch = epoch
	return true
}

// isOther reports whether another way to a machine is of an epoch, and what runs there goes on.
func (f *Fleet) isOther(than *member, epoch int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		if m != than && m.now() == epoch {
			return true
		}
	}
	return false
}
