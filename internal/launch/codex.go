// Package launch has codex started as the settings say: with its folders made, its temp directory, its fence, the model's
// key kept from it, and all of that looked after while it runs. What can be known of the start before, checks ask, too.
package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexfit"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextemp"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// Config is what codex is started by.
type Config struct {
	Settings settings.Settings
	Environ  []string
	Version  string // of the runtime
	// ScriptedURL is where the built-in model listens; empty if that is not in use.
	ScriptedURL string
	Platform    adapter.Secrets // gives logins out; nil standing alone
	Redact      *logging.Redactor
	Logger      *slog.Logger
}

// A Codex is how codex is started, again and again, and what has to be there for it. It starts none itself.
type Codex struct {
	Setup *adapter.Setup  // says how, for each start anew
	Temp  *codextemp.Temp // of codex and its commands
	Fence fence.Fence     // that it is started through
	Fit   *codexfit.Fit   // whether it does what is needed of it

	cfg      Config
	s        settings.Settings
	logins   *adapter.Logins // nil where codex's login is its own
	key      *keeper         // nil for the built-in model
	restarts chan string     // why codex has to be started anew
	log      *slog.Logger
}

// Open makes what codex needs. Close takes away what is not to stay.
func Open(cfg Config) (_ *Codex, err error) {
	c := &Codex{cfg: cfg, s: cfg.Settings, restarts: make(chan string, 2), log: cfg.Logger}
	raiseOpenFiles(c.log)
	if err := c.s.User.May(); err != nil {
		return nil, fmt.Errorf("CODEX_USER: %w (start the runtime as root or with CAP_SETUID and CAP_SETGID, or unset it)", err)
	}
	if err := makeFolders(c.s); err != nil {
		return nil, err
	}
	// codex makes it, and what is in it, as open as the umask of the process that began it says.
	c.s.User.Shut(c.s.CodexHome, c.log)
	c.fence()
	if c.Temp, err = codextemp.Open(c.s, c.log); err != nil {
		return nil, err
	}
	if err := c.setUp(); err != nil {
		return nil, errors.Join(err, c.Temp.Close())
	}
	return c, nil
}

// fence keeps codex and its commands out of what other processes have in memory.
func (c *Codex) fence() {
	if c.s.User == nil { // in a sandbox commands cannot look, but for those that a caller has allowed to leave it
		if err := fence.KeepPrivate(); err != nil {
			c.log.Warn("the environment of this process can be read by codex's commands", "err", err)
		}
	}
	c.Fence = fence.Make(context.Background(), c.s, c.cfg.Redact.Known)
	switch f := c.Fence; {
	case f.Err != nil:
		c.log.Info("codex can look into other processes of its user", "user", c.s.User.String(), "err", f.Err, "fix", fence.OpenFix)
	case len(f.Argv) > 0:
		c.log.Info("codex is kept out of other processes of its user", "through", f.Argv[0], "docs", "security.md, Links")
	}
	if shared := c.Fence.Shared; shared != nil {
		c.log.Warn("what is mounted on this machine while a command of codex's runs is not read-only in its sandbox", "err", shared, "fix", fence.SharedFix(c.s))
	}
}

// setUp makes what says how codex is started.
func (c *Codex) setUp() error {
	cfg := Setup(c.s, c.cfg.Environ, c.cfg.ScriptedURL)
	cfg.Logger, cfg.Redact, cfg.Launch.Temp = c.log, c.cfg.Redact.Newest(secrets.MostRead), c.Temp.Dirs()
	if c.s.Machines != "" { // commands have the temp directory of the machine that they run on
		cfg.Launch.Temp.Commands, cfg.Launch.Temp.Guard = "", ""
	}
	cfg.Replaced = func() { c.restart("the .codex of its working directory was replaced") }
	if c.s.ConfigLate {
		cfg.Wait = configWait
	}
	if c.s.Addr == fmt.Sprintf("0.0.0.0:%d", adapter.DefaultPort) {
		cfg.Port = adapter.DefaultPort
	}
	if !c.s.Scripted() {
		key, err := keepKey(c.cfg.Environ, c.log)
		if err != nil {
			return err
		}
		c.key, cfg.Forward = key, key
	}
	if cfg.File != "" && !c.s.Scripted() {
		logins := adapter.LoginsConfig{
			Home: c.s.CodexHome, User: c.s.User, Owned: c.s.OwnsLogin, Every: time.Duration(c.s.AuthSync) * time.Second,
			Platform: c.cfg.Platform, Redact: c.cfg.Redact.Newest(secrets.MostGiven), Logger: c.log,
			Changed: func() { c.restart("its login was replaced") },
		}
		c.logins = adapter.NewLogins(logins)
		cfg.Logins = c.logins
	}
	c.Setup = adapter.NewSetup(cfg)
	c.Fit = codexfit.New(Program(c.s, c.cfg.Environ), c.Temp.Dirs().Codex) // what a kill leaves there goes with the next start
	return nil
}

// restart notes that codex has to be started anew. One reason is enough.
func (c *Codex) restart(why string) {
	select {
	case c.restarts <- why:
	default:
	}
}

// Run looks after logins and tokens until ctx ends, and calls restart with a reason when codex has to be started anew.
func (c *Codex) Run(ctx context.Context, restart func(why string)) {
	var all sync.WaitGroup
	defer all.Wait()
	if c.logins != nil {
		all.Go(func() { c.logins.Run(ctx) })
	}
	if c.s.User != nil {
		all.Go(func() { secrets.WatchTokens(ctx, c.s, c.log) })
	}
	for {
		select {
		case why := <-c.restarts:
			restart(why)
		case <-ctx.Done():
			return
		}
	}
}

// Mend gives the folders that all commands need back to their owner, and keeps the places in them that codex's sandbox
// keeps for itself.
func (c *Codex) Mend() {
	c.regain()
	if err := adapter.Occupy(c.s.WorkDir, c.s.User); err != nil {
		c.log.Warn("a folder that codex keeps from commands, such as .codex, cannot be made in the working directory: commands in its sandbox may come to write settings there", "path", c.s.WorkDir, "err", err, "fix", "make folders .codex, .agents, .aws and .git there, each with a .gitignore in it")
	}
	for _, dir := range c.Setup.Roots() {
		if err := adapter.Occupy(dir, c.s.User); err != nil && !errors.Is(err, fs.ErrNotExist) {
			c.log.Warn("a folder that codex keeps from commands, such as .git, cannot be made in a directory of sandbox_workspace_write.writable_roots: commands may come to write one there", "path", dir, "err", err)
		}
	}
	if err := c.Temp.Keep(); err != nil {
		c.log.Error("codex's commands have no temp directory", "path", c.Temp.Path(), "err", err)
	}
}

func (c *Codex) regain() {
	c.s.User.Regain(c.s.WorkDir, c.log)
	c.s.User.Regain(c.s.CodexHome, c.log) // without a sandbox it is theirs, too
}

// prepare is asked by the executor before each start of codex, for the whole life of which it holds
// what is seen of the working directory. A command may have closed that.
func (c *Codex) prepare(ctx context.Context) (adapter.Launch, error) {
	c.regain()
	l, err := c.Setup.Prepare(ctx)
	if err != nil {
		return l, err
	}
	secrets.CloseTokens(c.s, c.log, map[string]bool{})
	if err := makeHome(l.Home, l.User); err != nil { // codex ends at once where it is missing
		return l, fmt.Errorf("CODEX_HOME: %w", err)
	}
	if err := c.Temp.Keep(); err != nil {
		return l, fmt.Errorf("TMPDIR: %w", err)
	}
	if err := l.User.Do(func() error { return thereIs(l.WorkDir) }); err != nil { // codex would start, and each command fail
		return l, fmt.Errorf("RUNTIME_WORKDIR: %w", err)
	}
	if moved := l.Moved(); len(moved) > 0 {
		c.log.Info("MCP servers that name no folder (cwd) are started in CODEX_HOME and not in the working directory, which commands write", "servers", moved)
	}
	c.log.Info("starting codex", "model_provider", l.Provider.Describe(), "model", l.Model())
	return l, nil
}

// Close ends what codex speaks to, and removes its temp directory.
func (c *Codex) Close() error {
	var err error
	if c.key != nil {
		err = c.key.Close()
	}
	return errors.Join(err, c.Temp.Close())
}
