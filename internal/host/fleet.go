package host

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/branches"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/client"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
	"github.com/Molecule-AI/molecule-codex-runtime/fleet/roster"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// openFleet begins to watch the machines that commands run on; nil where they run here.
func openFleet(ctx context.Context, life *Life, g *Ground) (*fleet.Fleet, error) {
	s := g.Settings
	if s.Machines == "" {
		return nil, nil
	}
	cfg := fleet.Config{
		Epoch: &atomic.Int64{}, Files: s.MachinesFiles, Dir: s.WorkDir, Incoming: files.Uploads(s.WorkDir), Wait: s.MachinesWait,
		Journal: g.Journal, Logger: g.Logger,
	}
	var err error
	if cfg.Source, err = roster.Parse(s.Machines); err != nil {
		return nil, fmt.Errorf("RUNTIME_MACHINES: %w", err)
	}
	if cfg.Labels, err = placement.ParseLabels(s.MachinesLabels); err != nil {
		return nil, fmt.Errorf("RUNTIME_MACHINES_LABELS: %w", err)
	}
	by, err := approach(ctx, s, g.Journal)
	if err != nil {
		return nil, err
	}
	by.Epoch = cfg.Epoch.Load
	if s.MachinesFiles == wire.FilesGit {
		if cfg.Trees, err = openBranches(ctx, g); err != nil {
			return nil, err
		}
	}
	authorities, err := authorities(s.MachinesCA)
	if err != nil {
		return nil, err
	}
	cfg.Connect = func(e roster.Entry) (fleet.Machine, error) {
		by := by
		by.Address, by.TLS = e.Address, e.TLS(authorities)
		return client.New(by), nil
	}
	f, err := fleet.New(ctx, cfg)
	if err != nil {
		return nil, err
	}
	life.Opened(f)
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

// approach is how all machines are spoken to.
func approach(ctx context.Context, s settings.Settings, journal interface {
	Identity(ctx context.Context) (string, error)
}) (by client.Config, err error) {
	if s.MachinesSecret == "" && !s.MachinesToken.Set() {
		return by, errors.New("RUNTIME_MACHINES is set, and RUNTIME_MACHINES_TOKEN_FILE is not: put there what runtime machine token prints on a machine")
	}
	if by.Runtime, err = journal.Identity(ctx); err != nil {
		return by, &StateError{err}
	}
	by.Token = func() string {
		if s.MachinesSecret == "" {
			return s.MachinesToken.Reveal()
		}
		text, err := regular.Read(s.MachinesSecret, mostToken)
		if err != nil {
			return s.MachinesToken.Reveal()
		}
		return cmp.Or(strings.TrimSpace(string(text)), s.MachinesToken.Reveal())
	}
	return by, nil
}

// mostToken is how long a file may be that holds a token.
const mostToken = 4 << 10

// authorities are what certificates are checked against; nil are the system's.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("RUNTIME_MACHINES_CA: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("RUNTIME_MACHINES_CA: %s has no certificate in PEM", file)
	}
	return pool, nil
}
