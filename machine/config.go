package machine

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
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
	Home      string // what codex and git keep there for commands; it is made, and belongs to the user below
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

// makeHome makes what is for codex and git. Where only we can make it, it is given to the user that commands run as, which
// takes root, and the state directory is one that the user gets through, and sees nothing of.
func (c Config) makeHome() error {
	made := c.User.Do(func() error { return os.MkdirAll(c.Home, 0o700) })
	if made == nil {
		return nil
	}
	if c.User != nil && errors.Is(made, fs.ErrPermission) {
		made = os.Chmod(c.State, 0o711) //nolint:gosec // as the comment says
		if err := c.User.Give(c.Home); !errors.Is(err, fs.ErrExist) {
			made = errors.Join(made, err)
		}
	}
	if made != nil {
		return fmt.Errorf("a folder for codex, which the user of commands can write: %w (set CODEX_HOME to one)", made)
	}
	return nil
}
