package fleet

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/client"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// A turn has its room on a machine from the word that it begins to the word that it has ended. Turns do not wait for either
// where there is room enough, so that they cost no round trip. Where other runtimes may have taken the last room, the
// machine is asked before: one that is full then has the turn wait, and costs it nothing.

// reserve says to the machine that the turn begins, and waits for its word.
func (p *placed) reserve(ctx context.Context) error {
	p.m.awaitEnds(ctx)
	err := p.m.machine.Begin(ctx, p.turn, wire.Turn{Place: p.id})
	if err != nil && client.Code(err) != "" {
		return err
	}
	p.begun = true
	p.f.wg.Go(func() {
		<-p.left
		p.tellEnd()
	})
	return err // where none was heard the machine may have heard us
}

// Begin implements [place.Place]: beside the turn. A machine that refuses it is lost to it.
func (p *placed) Begin(thread string) {
	if p.begun {
		return
	}
	p.begun = true
	p.f.wg.Go(func() {
		p.m.awaitEnds(p.in.ctx)
		err := p.m.machine.Begin(p.in.ctx, p.turn, wire.Turn{Place: p.id, Thread: thread})
		if err != nil && p.in.ctx.Err() == nil {
			p.room.Refused().End() // it gets no other turn until it has been heard
			p.lose(lost(p.machine, "it does not take the turn: "+err.Error()))
		}
		<-p.left
		p.tellEnd()
	})
}

// ends notes that the machine is to hear of the end of a turn, whose room others may have from now on.
func (m *member) ends(over chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ending == nil {
		m.ending = map[chan struct{}]bool{}
	}
	m.ending[over] = true
}

// awaitEnds waits until the machine has heard of the turns that have ended before now: what is said of them goes there by
// other connections, and may come behind the begin of the turn that has the room of one.
func (m *member) awaitEnds(ctx context.Context) {
	m.mu.Lock()
	before := slices.Collect(maps.Keys(m.ending))
	m.mu.Unlock()
	for _, over := range before {
		select {
		case <-over:
		case <-ctx.Done():
			return
		}
	}
}

// tellPause and mostTellPause are between two tries to say that a turn has ended.
const (
	tellPause     = 100 * time.Millisecond
	mostTellPause = 2 * time.Second
)

// tellEnd says to the machine that the turn has ended, until it has heard that, or has nothing of that time any more: else
// the turn would keep its room there.
func (p *placed) tellEnd() {
	defer p.m.hasHeard(p.over)
	pause := tellPause
	for p.m.now() == p.in.epoch && p.m.ctx.Err() == nil {
		err := p.m.machine.End(p.m.ctx, p.turn)
		if err == nil || client.Code(err) != "" {
			return
		}
		p.f.log.Debug("a machine was not told that a turn has ended, and is told again", "machine", p.machine, "err", err)
		sleep.For(p.m.ctx, pause)
		pause = min(2*pause, mostTellPause)
	}
}

// hasHeard notes that the machine has heard of the end of a turn, or has nothing of it.
func (m *member) hasHeard(over chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.ending, over)
	close(over)
}
