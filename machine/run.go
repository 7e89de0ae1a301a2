package machine

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/execs"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/identity"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/places"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/tenancy"
)

// Run has a machine live until it is told to end, and nothing of it is left.
func Run(ctx context.Context, cfg Config) error {
	id, err := cfg.Identity()
	if err != nil {
		return err
	}
	release, err := identity.Lock(ctx, cfg.State)
	if err != nil {
		return err
	}
	defer release()
	m, err := build(ctx, cfg, id)
	if err != nil {
		return err
	}
	beside, leave := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	defer group.Wait()
	defer leave()
	group.Go(func() {
		if err := execs.Adopt(beside); err != nil {
			cfg.Logger.Warn("processes that lose their parent are not reaped by this machine", "err", err)
		}
	})
	if err := m.front.servers.Sweep(ctx); err != nil {
		cfg.Logger.Error("what an earlier life of this machine has left could not be ended", "err", err)
	}
	m.healer.look(ctx)
	group.Go(func() { m.healer.keep(beside) })
	return m.serve(ctx)
}

// A machine is its parts.
type machine struct {
	cfg    Config
	id     *identity.Identity
	front  *front
	healer *healer
}

func build(ctx context.Context, cfg Config, id *identity.Identity) (*machine, error) {
	var tenants *tenancy.Tenants
	m := openMetrics(func() *tenancy.Tenants { return tenants })
	servers := execs.New(execs.Config{
		Machine: id.ID, Bin: cfg.Bin, Env: cfg.Env, Home: filepath.Join(cfg.Home, "homes"), User: cfg.User,
		Started: m.execStarts.Inc, Ended: func(n int) { m.ended.Add(float64(n)) }, Logger: cfg.Logger,
	})
	if err := cfg.makeHome(); err != nil {
		return nil, err
	}
	own, err := servers.Prepare()
	if err != nil {
		return nil, err
	}
	tenants = tenancy.New(tenancy.Config{
		Turns: cfg.Turns, Logger: cfg.Logger,
		Begin: func(runtime string, changed func()) tenancy.Work { return servers.Begin(runtime, changed) },
	})
	known := places.New(places.Config{Root: cfg.Root, User: cfg.User, Trees: openTrees(ctx, cfg)})
	f := &front{
		token: id.Token, refusals: refusals.New(refusals.Config{Logger: cfg.Logger}), tenants: tenants, servers: servers, places: known,
		drain: openDrain(cfg.State, tenants), about: newAbout(cfg, known.Files()), metrics: m, log: cfg.Logger,
	}
	return &machine{cfg: cfg, id: id, front: f, healer: &healer{front: f, cfg: cfg, home: own}}, nil
}

// serve serves runtimes until the machine has drained, or ctx ends.
func (m *machine) serve(ctx context.Context) error {
	log := m.cfg.Logger
	s, err := listen(ctx, m.cfg.Addr, m.id.Cert, m.front.handler(), log)
	if err != nil {
		return err
	}
	defer s.close()
	defer m.front.tenants.Close() // its watches end with it
	join := joinOf(s.addr, m.id)
	log.Info("listening", "addr", s.addr, "machine", join.URL, "token_file", join.TokenFile, "name", m.cfg.Name, "root", m.cfg.Root, "turns", m.cfg.Turns)
	m.cfg.Joined(join)
	select {
	case err := <-s.served:
		s.served <- err
		return err
	case <-ctx.Done():
		return nil
	case <-m.cfg.Quit:
	}
	m.drain(ctx)
	return nil
}

// drain waits for the turns that run, for as long as they have.
func (m *machine) drain(ctx context.Context) {
	_, turns := m.front.tenants.Count()
	m.cfg.Logger.Info("this machine drains, and then ends", "turns", turns, "at_most", m.cfg.Drain)
	m.front.tenants.Drain(true)
	ctx, cancel := context.WithTimeout(ctx, m.cfg.Drain)
	defer cancel()
	began := time.Now()
	if !m.front.tenants.Quiet(ctx) {
		_, turns = m.front.tenants.Count()
		m.cfg.Logger.Warn("turns are cut off", "turns", turns, "after", time.Since(began).Round(time.Second))
	}
}
