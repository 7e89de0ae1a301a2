package login

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/failure"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// Config is what a credential goes by. Nothing of it may be left out but User, KeyVariable and RefreshEvery.
type Config struct {
	Child           *child.Supervisor
	RestartWhenIdle func(reason string) // has codex be started anew as soon as no turn is begun
	// Probe asks the model for a word, and returns why it refuses that, or nil.
	Probe   func(context.Context) (*executor.Refusal, error)
	Limits  *failure.Limits
	Metrics failure.Metrics
	Logger  *slog.Logger

	User         *asuser.User  // that codex runs as
	KeyVariable  string        // the environment variable with the model's key; empty if there is none
	Patience     time.Duration // what a call may take that codex answers at once
	ProbeEvery   time.Duration // how often the model is asked whether it takes a refused credential now
	RefreshEvery time.Duration // how often a ChatGPT login is renewed; 0 is never
}

// A Credential is that of one codex, whichever child runs. Its methods may be called concurrently.
type Credential struct {
	cfg  Config
	log  *slog.Logger
	host executor.Host
	root context.Context // ends with [executor.ErrShutdown]

	account account
	open    atomic.Pointer[login]  // that the jobs which wait are told of, or nil
	keyName atomic.Pointer[string] // as the last start had it; nil before the first
}

// New returns the credential of a codex that was not started yet.
func New(cfg Config) *Credential { return &Credential{cfg: cfg, log: cfg.Logger} }

// Serve says for which scheduler, and until when. It is called once, before the methods that ask codex.
func (c *Credential) Serve(ctx context.Context, host executor.Host) { c.root, c.host = ctx, host }
