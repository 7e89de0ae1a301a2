package adapter

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/whole"
)

// Secrets is the part of the platform that says what a workspace's secrets are now.
type Secrets interface {
	Secrets(ctx context.Context) (map[string]string, error)
}

// The names that a login of ChatGPT goes by among the secrets.
func loginVariables() []string { return []string{"CODEX_AUTH_JSON", "CODEX_CHATGPT_AUTH_JSON"} }

const (
	fetchAtStart = 5 * time.Second // codex is not started before
	fetchTime    = 30 * time.Second
	fetchAgain   = time.Minute // after one that failed
)

// LoginsConfig describes a [Logins].
type LoginsConfig struct {
	Home     string        // of codex
	User     *asuser.User  // that it belongs to; nil is ours
	Platform Secrets       // nil without a platform
	Every    time.Duration // how often the platform is asked; 0 is never, but at the start
	// Owned says that codex renews the login here, and that what it has made of it
	// goes before what it was made from.
	Owned   bool
	Changed func()          // the login is another one
	Redact  func(...string) // is told what no log may show; nil if there is nothing to tell
	Logger  *slog.Logger
}

// Logins keeps codex's login as the platform has it. A refresh token works once, and
// many workspaces share one login: the platform alone renews it, and here it is only
// fetched. What codex itself has renewed since is kept.
type Logins struct {
	cfg LoginsConfig

	mu   sync.Mutex        // guards the fields below, and the file
	seen [sha256.Size]byte // what was looked at last; it is not looked at again
}

// NewLogins returns a Logins that has not done anything yet.
func NewLogins(cfg LoginsConfig) *Logins {
	if cfg.Redact == nil {
		cfg.Redact = func(...string) {}
	}
	if cfg.Changed == nil {
		cfg.Changed = func() {}
	}
	return &Logins{cfg: cfg}
}

// Install puts the login into codex's home, before codex starts: the platform's if
// it can be asked, else that of the environment. One that is there and older is
// replaced; where none is given, what is there stays, and so it does where a process keeps
// from being read which is the newer one: then the error is [regular.ErrHeld], and Install may
// be called again. Any other error is that of the disk.
func (l *Logins) Install(ctx context.Context, env func(string) string) error {
	text := ""
	if l.cfg.Platform != nil {
		ctx, cancel := context.WithTimeout(ctx, fetchAtStart)
		defer cancel()
		secrets, err := l.cfg.Platform.Secrets(ctx)
		if err != nil {
			l.cfg.Logger.Info("the platform could not be asked for the login; that of the environment is used", "err", err)
		}
		text = first(loginVariables(), func(name string) string { return secrets[name] })
	}
	_, err := l.install(cmp.Or(text, first(loginVariables(), env)))
	return err
}

func first(names []string, value func(string) string) string {
	for _, name := range names {
		if v := strings.TrimSpace(value(name)); v != "" {
			return v
		}
	}
	return ""
}

// install makes text the login, unless there is a better one, and reports whether
// the login has changed.
func (l *Logins) install(text string) (changed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return asuser.Value(l.cfg.User, func() (bool, error) { return l.installLocked(text) })
}

func (l *Logins) installLocked(text string) (changed bool, err error) {
	have, _, haveErr := ReadLogin(l.cfg.Home)
	l.cfg.Redact(have.Secrets()...) // codex may have renewed it
	sum := sha256.Sum256([]byte(text))
	if text == "" || sum == l.seen {
		return false, nil
	}
	given, err := LookAtLogin([]byte(text))
	if err != nil {
		l.cfg.Logger.Warn("CODEX_AUTH_JSON is not used", "err", err)
		l.seen = sum
		return false, nil
	}
	l.cfg.Redact(given.Secrets()...)
	if errors.Is(haveErr, regular.ErrHeld) {
		return false, heldFile(authFile(l.cfg.Home), haveErr)
	}
	stays := haveErr == nil
	if stays {
		if stays, err = l.goesBefore(have, given, hex.EncodeToString(sum[:])); err != nil {
			return false, err
		}
	}
	if stays {
		l.seen = sum
		return false, nil
	}
	if changed, err = WriteLogin(l.cfg.Home, []byte(text)); err != nil {
		return false, err
	}
	l.seen = sum
	if l.cfg.Owned {
		if err := whole.Write(l.seedFile(), []byte(hex.EncodeToString(sum[:])), 0o600); err != nil {
			l.cfg.Logger.Warn("what the login was made from could not be noted", "err", err)
		}
	}
	if changed {
		l.cfg.Logger.Info("codex has another login")
	}
	return changed, nil
}

// goesBefore reports whether the login that is there stays where another is given, of that hash.
func (l *Logins) goesBefore(have, given Login, sum string) (bool, error) {
	if have.newerThan(given) || !l.cfg.Owned || !have.ChatGPT {
		return have.newerThan(given), nil
	}
	seed, err := l.seed()
	return seed == sum, err
}

// seedFile holds the hash of the login that codex's own was made from.
func (l *Logins) seedFile() string { return filepath.Join(l.cfg.Home, ".auth-seed") }

func (l *Logins) seed() (string, error) {
	text, err := regular.Read(l.seedFile(), 2*sha256.Size)
	if errors.Is(err, regular.ErrHeld) {
		return "", heldFile(l.seedFile(), err)
	}
	return strings.TrimSpace(string(text)), nil // without it the login is taken as it is given
}

func heldFile(path string, err error) error {
	return fmt.Errorf("codex's login stays as it is: %w (end the process that has a lease on %s)", err, path)
}

// Run asks the platform from time to time, until ctx ends.
func (l *Logins) Run(ctx context.Context) {
	if l.cfg.Platform == nil || l.cfg.Every <= 0 {
		return
	}
	for delay := l.cfg.Every; pause(ctx, delay); {
		delay = l.cfg.Every
		if err := l.fetch(ctx); err != nil && ctx.Err() == nil {
			l.cfg.Logger.Warn("the login could not be brought up to date; this is tried again", "err", err)
			delay = min(delay, fetchAgain)
		}
	}
}

func (l *Logins) fetch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	secrets, err := l.cfg.Platform.Secrets(ctx)
	if err != nil {
		return err
	}
	changed, err := l.install(first(loginVariables(), func(name string) string { return secrets[name] }))
	if changed {
		l.cfg.Changed()
	}
	return err
}

// pause waits for about d: workspaces that were started together are not to ask
// together. It reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	d = time.Duration((0.9 + 0.2*rand.Float64()) * float64(d)) //nolint:gosec // nobody guesses it to any end
	return sleep.For(ctx, d)
}
