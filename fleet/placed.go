package fleet

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/place"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/commands"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// A placed turn has its place on a machine. It implements [place.Place].
type placed struct {
	f            *Fleet
	m            *member
	conversation string
	in           *stay
	machine      string // its name
	id           string // of the place
	dir          string
	news         string
	turn         string

	begun bool          // the machine was told of the turn, or is being told
	said  chan struct{} // closed when it has answered that
	noted bool          // it has the turn, or may; set before said is closed
	over  chan struct{} // closed when it has heard of its end

	up   context.Context // ends with that of the stay, or when the machine refuses the turn
	lose context.CancelCauseFunc

	room *placement.Turn
	once sync.Once
}

func (m *member) placed(conversation, id string, at wire.Place, in *stay, name, news string) *placed {
	p := &placed{
		f: m.f, m: m, conversation: conversation, in: in, machine: name, id: id, dir: at.Dir, news: news,
		turn: rand.Text(), said: make(chan struct{}), over: make(chan struct{}),
	}
	p.up, p.lose = context.WithCancelCause(in.ctx)
	return p
}

// On implements [place.Place], as do the methods below.
func (p *placed) On() place.Environment {
	return place.Environment{Machine: p.machine, ID: fmt.Sprintf("machine-%s-%d", p.machine, p.m.number), URL: p.m.link.URL(), Token: p.m.link.Token()}
}

func (p *placed) Dir() string { return p.dir }

func (p *placed) Within(folder string) string {
	below, err := filepath.Rel(p.f.cfg.Dir, folder)
	if err != nil || below == ".." || strings.HasPrefix(below, "../") {
		return p.dir
	}
	return filepath.Join(p.dir, below)
}

func (p *placed) News() string { return p.news }

func (p *placed) Lost() context.Context { return p.up }

// Stands implements [place.Place]. The machine is asked.
func (p *placed) Stands(ctx context.Context) error {
	if _, err := p.m.machine.Commands(ctx); err == nil {
		return context.Cause(p.in.ctx)
	}
	select {
	case <-p.in.ctx.Done():
		return context.Cause(p.in.ctx)
	case <-ctx.Done():
		return nil
	}
}

func (p *placed) Commands(ctx context.Context) ([]commands.Command, error) {
	if err := context.Cause(p.in.ctx); err != nil {
		return nil, err
	}
	all, err := p.m.machine.Commands(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the commands on machine %s: %w", p.machine, err)
	}
	found := make([]commands.Command, len(all))
	for i, c := range all {
		found[i] = commands.Command{Pid: c.Pid, ThreadID: c.ThreadID, SessionID: c.SessionID, CallID: c.CallID}
	}
	return found, nil
}

func (p *placed) End(ctx context.Context, all []commands.Command) error {
	asked := make([]wire.Command, len(all))
	for i, c := range all {
		asked[i] = wire.Command{Pid: c.Pid, ThreadID: c.ThreadID, SessionID: c.SessionID, CallID: c.CallID}
	}
	if _, err := p.m.machine.EndCommands(ctx, asked); err != nil {
		return fmt.Errorf("end commands on machine %s: %w", p.machine, err)
	}
	return nil
}
