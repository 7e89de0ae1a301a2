package host

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/branches"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/roster"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/machines"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/metrics"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// openFleet begins to watch the machines that commands run on; nil where they run here.
func openFleet(ctx context.Context, life *Life, g *Ground) (*fleet.Fleet, error) {
	s := g.Settings
	if s.Machines == "" {
		return nil, nil
	}
	cfg := fleet.Config{
		Files: s.MachinesFiles, Dir: s.WorkDir, Incoming: files.Uploads(s.WorkDir), Wait: s.MachinesWait,
		Journal: g.Journal, Logger: g.Logger,
	}
	counts := metrics.NewMachines()
	cfg.Metrics = counts
	var err error
	if cfg.Source, err = machines.Source(s); err != nil {
		return nil, err
	}
	if cfg.Labels, err = machines.Labels(s); err != nil {
		return nil, err
	}
	id, err := g.Journal.Identity(ctx)
	if err != nil {
		return nil, &StateError{err}
	}
	connect, err := machines.Clients(s, id)
	if err != nil {
		return nil, err
	}
	if s.MachinesFiles == wire.FilesGit {
		if cfg.Trees, err = openBranches(ctx, g); err != nil {
			return nil, err
		}
	}
	cfg.Connect = func(e roster.Entry, epoch func() int64) (fleet.Machine, error) { return connect(e, epoch), nil }
	f, err := fleet.New(ctx, cfg)
	if err != nil {
		return nil, err
	}
	life.Opened(f)
	counts.Show(f)
	g.Registry.MustRegister(counts)
	return f, nil
}

// mostBundle bounds what a machine sends of a conversation's files at a time.
const mostBundle = 4 << 30

// openBranches opens the repository of the files of conversations.
func openBranches(ctx context.Context, g *Ground) (*branches.Branches, error) {
	s := g.Settings
	return branches.Open(ctx, branches.Config{
		Dir: filepath.Join(s.StateDir, "conversations.git"), From: cmp.Or(s.MachinesRepo, s.WorkDir), Ours: s.MachinesRepo == "",
		Most: mostBundle, Logger: g.Logger,
	})
}
