package fleet

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// A member is one machine, as it is watched.
type member struct {
	f       *Fleet
	address string // as the roster has it
	number  int    // of its own: codex knows the way to it by that, and does not forget another one
	machine Machine
	link    way
	ctx     context.Context // ends when the machine is not used any more
	quit    context.CancelFunc

	mu     sync.Mutex // guards the fields below
	epoch  int64      // another one with each loss: what was there before it ends with the next request
	state  State
	why    string // it is not up
	status wire.Status
	heard  time.Time
	stay   *stay       // nil unless it is up or doubted
	doubt  *time.Timer // ends a doubt
	again  context.CancelCauseFunc
	busy   int                    // places that are not left
	ending map[chan struct{}]bool // ends of turns that the machine has not heard of yet
	leaves bool                   // it is not in the list any more, and is let go of when no place there is in use
}

// errAnew ends a watch that is to be begun anew, in another epoch.
var errAnew = errors.New("what runs on the machine is over")

// follow watches the machine for as long as it is used.
func (m *member) follow() {
	for failures := 0; m.ctx.Err() == nil; failures++ {
		watch, again := context.WithCancelCause(m.ctx)
		m.mu.Lock()
		m.again = again
		epoch := m.epoch
		m.mu.Unlock()
		if err := m.f.epochs.keep(watch, epoch); err != nil {
			m.f.log.Warn("the epoch of a machine is not kept: where the clock goes back until the next start, the machine refuses this runtime", "address", m.address, "err", err)
		}
		err := m.machine.Watch(watch, silentTime, func(s wire.Status) {
			failures = 0
			m.hear(s, epoch)
		})
		again(nil)
		if errors.Is(err, errAnew) || m.ctx.Err() != nil || m.catchUp(err) {
			continue
		}
		m.miss(err)
		sleep.For(m.ctx, min(100*time.Millisecond<<min(failures, 4), time.Second))
	}
	m.leave()
}

// hear takes what the machine says of itself.
func (m *member) hear(s wire.Status, epoch int64) {
	if other := m.f.claim(s.Name, m); other != "" {
		m.refuse("there is another machine with the name " + s.Name + ", " + other + ": give each a name of its own (RUNTIME_MACHINE_NAME)")
		return
	}
	m.mu.Lock()
	if epoch != m.epoch {
		m.mu.Unlock()
		return
	}
	before := m.state
	if m.doubt != nil {
		m.doubt.Stop()
		m.doubt = nil
	}
	var over *stay
	if m.stay != nil && !m.stay.goesOn(s, epoch) {
		over, m.stay = m.stay, nil
	}
	if m.stay == nil {
		m.stay = newStay(s, epoch)
	}
	m.stay.exec = s.Exec
	if before != Up {
		m.link.Allow()
	}
	m.state, m.why, m.status, m.heard = Up, "", s, time.Now()
	m.mu.Unlock()
	if over != nil {
		over.end(lost(s.Name, anew))
	}
	if before != Up {
		m.f.log.Info("a machine is there", "machine", s.Name, "address", m.address, "labels", s.Labels, "turns", s.Turns, "codex", s.Codex)
	}
	m.f.changed(m)
}

// Admit implements [link.Keeper]. The first exec-server of a stay was not there before, and nothing is lost with it; with
// another one the stay is over, and the next is known when the machine has been heard.
func (m *member) Admit(answer http.Header) bool {
	now := answer.Get(wire.HeaderExec)
	m.mu.Lock()
	in, name := m.stay, m.status.Name
	is := in != nil && (in.exec == 0 || wire.ExecOf(in.life, in.exec) == now)
	m.mu.Unlock()
	if !is && in != nil {
		in.end(lost(name, anew))
	}
	return is
}

// anew is what is said of a machine of which nothing goes on.
const anew = "it, or codex's server on it, was started anew, and what ran there has ended"

// refuse has the machine not be used. What it had under another name is lost.
func (m *member) refuse(words string) {
	m.mu.Lock()
	at := m.heard
	m.mu.Unlock()
	m.lose(Refused, words, at)
	m.mu.Lock()
	news := m.why != words
	m.state, m.why, m.status.Name = Refused, words, ""
	m.mu.Unlock()
	if news {
		m.f.log.Warn("a machine is not used", "address", m.address, "why", words)
	}
}

// hold notes that a place there is in use, and free that it is left.
func (m *member) hold() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy++
}

func (m *member) free() {
	m.mu.Lock()
	m.busy--
	over := m.leaves && m.busy == 0
	m.mu.Unlock()
	if over {
		m.quit()
	}
}

// retire has the machine be let go of when no place there is in use, or takes that back. It reports whether it is gone.
func (m *member) retire(leaves bool) (gone bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leaves = leaves; leaves && m.busy == 0 {
		m.quit()
	}
	return m.ctx.Err() != nil
}

// miss takes that the watch has ended.
func (m *member) miss(err error) {
	state, words := why(err)
	m.mu.Lock()
	if m.state != Up && m.state != Doubted {
		changed := m.state != state || m.why != words
		m.state, m.why = state, words
		m.mu.Unlock()
		if changed {
			m.f.log.Warn("a machine is not to be had", "address", m.address, "state", string(state), "why", words, "err", err)
			m.f.changed(m)
		}
		return
	}
	m.state = Doubted
	if m.doubt != nil {
		m.doubt.Stop()
	}
	at := m.heard
	left := m.patience(state, err) - time.Since(at)
	if left > 0 {
		m.doubt = time.AfterFunc(left, func() { m.lose(state, words, at) })
	}
	m.mu.Unlock()
	m.f.changed(m)
	if left <= 0 {
		m.lose(state, words, at)
	}
}

// patience is for how long after it was heard last a machine is not taken for lost.
func (m *member) patience(state State, err error) time.Duration {
	switch {
	case state == Refused:
		return 0
	case errors.Is(err, syscall.ECONNREFUSED):
		return deadTime
	}
	return silentTime
}

// lose ends the stay of the machine, if it has not been heard since.
func (m *member) lose(to State, words string, since time.Time) {
	m.mu.Lock()
	over, name := m.stay, m.status.Name
	if !m.heard.Equal(since) || over == nil {
		m.mu.Unlock()
		return
	}
	m.state, m.why, m.stay = to, words, nil
	m.anewLocked(m.f.epochs.next())
	m.mu.Unlock()
	if m.ctx.Err() == nil {
		m.f.log.Warn("a machine is lost", "machine", name, "address", m.address, "why", words)
		m.f.cfg.Metrics.MachineLost(name)
	}
	over.end(lost(name, words))
	m.f.wg.Go(func() {
		sleep.For(m.f.ctx, handover)
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.state != Up {
			m.link.Refuse("machine " + name + ": " + words)
		}
	})
	m.f.changed(m)
}

// leave ends with the machine, which is not used any more.
func (m *member) leave() {
	m.mu.Lock()
	at := m.heard
	m.mu.Unlock()
	m.lose(Lost, "the runtime does not use it any more", at)
	m.link.Close()
	m.machine.Close()
	m.f.drop(m)
}

// reset has what runs on the machine be over.
func (m *member) reset(epoch int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.anewLocked(epoch)
}

// anewLocked has the machine end all that it has for us before it does anything else: a machine that is lost may only have
// been frozen, or cut off, and be back before its own patience is at an end.
func (m *member) anewLocked(epoch int64) {
	m.epoch = epoch
	if m.again != nil {
		m.again(errAnew)
	}
}

// look has the machine be asked at once whether it lets us in.
func (m *member) look() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.again != nil {
		m.again(errAnew)
	}
}

// now is the epoch that requests to the machine are of.
func (m *member) now() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.epoch
}

func (m *member) standing() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// is reports whether it is the machine of a name, and up.
func (m *member) is(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state == Up && m.status.Name == name
}

// isThere reports whether it is up, or may be.
func (m *member) isThere() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stay != nil
}

// staying is the stay of the machine; nil if it is not up.
func (m *member) staying() *stay {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.state != Up || m.stay.epoch != m.epoch || m.stay.ctx.Err() != nil {
		return nil
	}
	return m.stay
}

// isBehind reports whether it is up, and has not been heard in its epoch.
func (m *member) isBehind() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stay != nil && m.stay.epoch != m.epoch
}

// isShared reports whether turns of other runtimes may take room there.
func (m *member) isShared() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status.Runtimes > 1
}
