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

// A turn has its room on a machine from the word that it begins to the word that it has ended. Turns do not wait for either,
// so that they cost no round trip: how much room there is is known here. Where other runtimes take room, too, the machine is
// asked before: one that is full then has the turn wait, and costs it nothing.

// reserve says to the machine that the turn begins, and waits for its word.
func (p *placed) reserve(ctx context.Context) error {
	p.begun = true
	defer close(p.said)
	return p.begin(ctx, "")
}

// Begin implements [place.Place]: beside the turn. A machine that has no room after all, as another runtime has come just now,
// is told again: the turn goes on there, and is none too many for long. One that refuses it is lost to it.
func (p *placed) Begin(thread string) {
	p.f.told(p.conversation)
	if p.begun {
		return
	}
	p.begun = true
	p.f.wg.Go(func() {
		defer close(p.said)
		err := p.begin(p.in.ctx, thread)
		for isCrowded(err) && sleep.For(p.up, askAgain) {
			err = p.begin(p.up, thread)
		}
		if err != nil && p.up.Err() == nil {
			p.room.Refused().End() // it gets no other turn until it has been heard
			p.lose(lost(p.machine, "it does not take the turn: "+err.Error()))
		}
	})
}

// begin says to the machine that the turn begins. What is said of turns goes there by several connections, and the end of one
// may come behind the begin of another that has its room: where the machine is full, it is asked again when it has
// heard of the ends before.
func (p *placed) begin(ctx context.Context, thread string) error {
	for {
		ending := p.m.ends()
		err := p.m.machine.Begin(ctx, p.turn, wire.Turn{Place: p.id, Thread: thread})
		if client.Code(err) == wire.CodeToken {
			p.m.look()
		}
		if client.Code(err) != wire.CodeFull || len(ending) == 0 {
			p.noted = client.Code(err) == ""
			return err
		}
		for _, over := range ending {
			select {
			case <-over:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
}

// askAgain is after how long a machine is asked again that has no room.
const askAgain = 200 * time.Millisecond

// isCrowded reports whether a refusal is one that passes by itself.
func isCrowded(err error) bool {
	code := client.Code(err)
	return code == wire.CodeFull || code == wire.CodeDraining || code == wire.CodeTrouble
}

// Leave implements [place.Place]. What the turn has changed is kept beside, which the next turn of the conversation waits
// for; a machine hears of the end of the turn behind that, as one that drains ends when it has no turns.
func (p *placed) Leave(title string) {
	p.once.Do(func() {
		kept := func() {}
		if p.f.cfg.Files == wire.FilesGit && title != "" {
			kept = p.keep(title)
		}
		p.end(kept)
		p.room.End()
	})
}

// giveBack leaves a place whose turn is to wait for another one.
func (p *placed) giveBack() { p.once.Do(func() { p.end(func() {}) }) }

// end has the machine hear of the end of the turn, after what is to be done there.
func (p *placed) end(first func()) {
	p.lose(nil)
	if p.begun {
		p.m.endsTurn(p.over)
	}
	p.f.wg.Go(func() {
		defer p.m.free()
		first()
		if p.begun {
			<-p.said
			p.tellEnd()
		}
	})
}

// endsTurn notes that the machine is to hear of the end of a turn, whose room others may have from now on.
func (m *member) endsTurn(over chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ending == nil {
		m.ending = map[chan struct{}]bool{}
	}
	m.ending[over] = true
}

// ends are those of turns that the machine has not heard of yet. Each is closed when it has.
func (m *member) ends() []chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.ending))
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
	for p.noted && p.m.now() == p.in.epoch && p.m.ctx.Err() == nil {
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
