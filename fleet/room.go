package fleet

import (
	"context"
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
	if err := p.m.machine.Begin(ctx, p.turn, wire.Turn{Place: p.id}); err != nil {
		if client.Code(err) == "" { // it may have heard that
			p.f.wg.Go(p.tellEnd)
		}
		return err
	}
	p.reserved = true
	p.f.wg.Go(func() {
		<-p.left
		p.tellEnd()
	})
	return nil
}

// Begin implements [place.Place]: beside the turn. A machine that refuses it is lost to it.
func (p *placed) Begin(thread string) {
	if p.reserved {
		return
	}
	p.f.wg.Go(func() {
		err := p.m.machine.Begin(p.in.ctx, p.turn, wire.Turn{Place: p.id, Thread: thread})
		if err != nil && p.in.ctx.Err() == nil {
			p.room.Refused().End() // it gets no other turn until it has been heard
			p.lose(lost(p.machine, "it does not take the turn: "+err.Error()))
		}
		<-p.left
		if client.Code(err) == "" {
			p.tellEnd()
		}
	})
}

// tellPause and mostTellPause are between two tries to say that a turn has ended.
const (
	tellPause     = 100 * time.Millisecond
	mostTellPause = 2 * time.Second
)

// tellEnd says to the machine that the turn has ended, until it has heard that, or has nothing of that time any more: else
// the turn would keep its room there.
func (p *placed) tellEnd() {
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
