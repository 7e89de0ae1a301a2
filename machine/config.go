package machine

import (
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/identity"
)

// A Config says what a machine is.
type Config struct {
	Addr   string // that it listens on, host:port
	Name   string
	Labels map[string]string
	Root   string // below which its folders lie
	Turns  int    // that run at a time
	// Drain is how long turns go on that run when the machine is told to stop.
	Drain time.Duration

	State     string // the state directory
	Token     string // what runtimes show; empty for that in TokenFile, or for one that is made
	TokenFile string
	Cert, Key string // files, in PEM; empty for a certificate that is made

	Bin     string       // codex
	Env     []string     // of commands
	Sandbox string       // the mode that is tried at the start
	User    *asuser.User // that commands run as; nil is ours
	Version string       // of this program

	// Quit is closed to have the machine drain and then end. The end of Run's context ends it at once.
	Quit   <-chan struct{}
	Joined func(Join) // is told, once it listens, how runtimes join
	Logger *slog.Logger
}

// Identity is what the machine is known by, which is made where it is not there.
func (c Config) Identity() (*identity.Identity, error) {
	return identity.Open(identity.Config{
		Dir: c.State, Token: c.Token, TokenFile: c.TokenFile, Cert: c.Cert, Key: c.Key, Names: names(c.Addr), Logger: c.Logger,
	})
}

// newLife names a life of the machine.
func newLife() string { return rand.Text() }
