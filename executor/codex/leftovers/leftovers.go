// Package leftovers ends what turns of codex leave running: turns that are not wanted, subagents, background
// terminals, and the processes of commands that codex has lost sight of. Where codex does not manage
// that in the grace period it is restarted, which takes them with it.
package leftovers

import (
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/inquiry"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// Config is what an ender goes by.
type Config struct {
	Desk   *inquiry.Desk // knows the subagents
	User   *asuser.User  // that commands run as
	Grace  time.Duration // what each step of an end may take
	Logger *slog.Logger
}

// An Ender ends things. Its methods may be called concurrently.
type Ender struct {
	cfg Config
	log *slog.Logger
}

// New returns an ender.
func New(cfg Config) *Ender { return &Ender{cfg: cfg, log: cfg.Logger} }
