package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextemp"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/forward"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// configWait is how long a container may run before its config.yaml is there.
const configWait = 60 * time.Second

// withFiles returns environ with what the files of a workspace say: its secrets, and
// the settings in its config.yaml that nothing in the environment says. What cannot
// be used of them is warned about by others. The error is that of [adapter.SecretFiles].
func withFiles(s settings.Settings, environ []string) ([]string, error) {
	if !s.InWorkspace() {
		return environ, nil
	}
	secrets, _, missed := adapter.SecretFiles(s.SecretsDir, s.User)
	environ = adapter.WithSecrets(environ, secrets)
	config, _, err := adapter.ReadConfig(s.ConfigFile)
	if err != nil {
		return environ, missed // setup says so, to everybody who sends a message
	}
	if config.A2A.Port != adapter.DefaultPort {
		environ = unlessSet(environ, "RUNTIME_ADDR", fmt.Sprintf("0.0.0.0:%d", config.A2A.Port))
	}
	if limit := config.RuntimeConfig.Timeout; limit > 0 {
		environ = unlessSet(environ, "CODEX_TURN_TIMEOUT", limit.String())
	}
	return environ, missed
}

func unlessSet(environ []string, name, value string) []string {
	if isSet(environ, name) {
		return environ
	}
	return append(slices.Clone(environ), name+"="+value)
}

// launch is what is known of the start of codex before the files of a workspace are
// read. ScriptedURL is where the built-in model listens, or empty if that is not in use.
func launch(s settings.Settings, environ []string, scriptedURL string) adapter.Launch {
	l := adapter.Launch{
		Home: s.CodexHome, User: s.User, WorkDir: s.WorkDir, Lean: s.CodexFeatures == "lean", Environ: environ,
		Workspace: s.InWorkspace(), OwnTools: len(s.Spaces) > 0, Sandboxed: s.Sandbox != "danger-full-access",
	}
	if !s.InWorkspace() || s.Scripted() {
		l.Provider = adapter.Alone(s.OpenAIKey.Set(), s.OpenAIBaseURL, s.Model)
	}
	if s.Scripted() { // doctor does not start the model, and asks it nothing
		l.Provider.ScriptedURL = scriptedURL
	}
	return l
}

// setupConfig is what checks look at, too.
func setupConfig(s settings.Settings, environ []string, scriptedURL string) adapter.SetupConfig {
	cfg := adapter.SetupConfig{Launch: launch(s, environ, scriptedURL), Trusted: filepath.Join(s.StateDir, "trusted-codex")}
	if s.InWorkspace() {
		cfg.File, cfg.Secrets, cfg.Fixed = s.ConfigFile, s.SecretsDir, s.Scripted()
	}
	return cfg
}

// openSetup makes what says how codex is started.
func (app *application) openSetup(s settings.Settings, environ []string, scriptedURL string, redact *logging.Redactor) error {
	cfg := setupConfig(s, environ, scriptedURL)
	cfg.Logger, cfg.Redact = app.log, redact.Newest(secrets.MostRead)
	cfg.Replaced = func() { app.executor.RestartWhenIdle("the .codex of its working directory was replaced") }
	temp, err := codextemp.Open(s, app.log)
	if err != nil {
		return err
	}
	app.closers, app.temp, cfg.Launch.Temp = append(app.closers, temp), temp, temp.Dirs()
	if s.ConfigLate {
		cfg.Wait = configWait
	}
	if s.Addr == fmt.Sprintf("0.0.0.0:%d", adapter.DefaultPort) {
		cfg.Port = adapter.DefaultPort
	}
	if !s.Scripted() {
		f, err := openForwarder(environ, app.log)
		if err != nil {
			return err
		}
		app.closers = append(app.closers, forwarderCloser{f})
		cfg.Forward = forwarding{f}
	}
	if cfg.File != "" && !s.Scripted() {
		logins := adapter.LoginsConfig{
			Home: s.CodexHome, User: s.User, Owned: s.OwnsLogin, Every: time.Duration(s.AuthSync) * time.Second, Redact: redact.Newest(secrets.MostGiven), Logger: app.log,
			Changed: func() { app.executor.RestartWhenIdle("its login was replaced") },
		}
		logins.Platform = app.workspaceClient(s)
		cfg.Logins = adapter.NewLogins(logins)
		app.goOn(cfg.Logins.Run)
	}
	if s.User != nil {
		app.goOn(func(ctx context.Context) { secrets.WatchTokens(ctx, s, app.log) })
	}
	app.setup = adapter.NewSetup(cfg)
	return nil
}

// openForwarder starts what adds the key to codex's requests. CODEX_CA_CERTIFICATE is
// a setting of codex's, which made these requests itself before.
func openForwarder(environ []string, log *slog.Logger) (*forward.Forwarder, error) {
	transport, err := forward.Transport(valueOf(environ, "CODEX_CA_CERTIFICATE"))
	if err != nil {
		return nil, fmt.Errorf("CODEX_CA_CERTIFICATE: %w", err)
	}
	return forward.Listen(transport, log)
}

type forwarding struct{ *forward.Forwarder }

// Renew implements [adapter.Renewer].
func (f forwarding) Renew(endpoint, key string) (adapter.Forward, error) {
	url, token, err := f.Forwarder.Renew(forward.Target{URL: endpoint, Key: key})
	return adapter.Forward{URL: url, Token: token}, err
}

type forwarderCloser struct{ *forward.Forwarder }

func (f forwarderCloser) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return f.Forwarder.Close(ctx)
}

// regain gives back to their owner the folders that all commands need.
func (app *application) regain(s settings.Settings) {
	s.User.Regain(s.WorkDir, app.log)
	s.User.Regain(s.CodexHome, app.log) // without a sandbox it is theirs, too
}

// mend does so, and keeps the places in them that codex's sandbox keeps for itself.
func (app *application) mend(s settings.Settings) {
	app.regain(s)
	if err := adapter.Occupy(s.WorkDir, s.User); err != nil {
		app.log.Warn("a folder that codex keeps from commands, such as .codex, cannot be made in the working directory: commands in its sandbox may come to write settings there", "path", s.WorkDir, "err", err, "fix", "make folders .codex, .agents, .aws and .git there, each with a .gitignore in it")
	}
	for _, dir := range app.setup.Roots() {
		if err := adapter.Occupy(dir, s.User); err != nil && !errors.Is(err, fs.ErrNotExist) {
			app.log.Warn("a folder that codex keeps from commands, such as .git, cannot be made in a directory of sandbox_workspace_write.writable_roots: commands may come to write one there", "path", dir, "err", err)
		}
	}
	if err := app.temp.Keep(); err != nil {
		app.log.Error("codex's commands have no temp directory", "path", app.temp.Path(), "err", err)
	}
}

// prepare is asked by the executor before each start of codex, for the whole life of which it holds
// what is seen of the working directory. A command may have closed that.
func (app *application) prepare(ctx context.Context, s settings.Settings) (executor.Launch, error) {
	app.regain(s)
	l, err := app.setup.Prepare(ctx)
	if problem, ok := errors.AsType[*adapter.Problem](err); ok {
		return executor.Launch{}, executor.Unready("this workspace is not configured: " + problem.Error())
	}
	if err != nil {
		return executor.Launch{}, err
	}
	secrets.CloseTokens(s, app.log, map[string]bool{})
	if err := makeHome(l.Home, l.User); err != nil { // codex ends at once where it is missing
		return executor.Launch{}, fmt.Errorf("CODEX_HOME: %w", err)
	}
	if err := app.temp.Keep(); err != nil {
		return executor.Launch{}, fmt.Errorf("TMPDIR: %w", err)
	}
	if err := l.User.Do(func() error { return thereIs(l.WorkDir) }); err != nil { // codex would start, and each command fail
		return executor.Launch{}, fmt.Errorf("RUNTIME_WORKDIR: %w", err)
	}
	if moved := l.Moved(); len(moved) > 0 {
		app.log.Info("MCP servers that name no folder (cwd) are started in CODEX_HOME and not in the working directory, which commands write", "servers", moved)
	}
	app.log.Info("starting codex", "model_provider", l.Provider.Describe(), "model", l.Model())
	return executor.Launch{
		Args: l.Args(), Env: l.Env(), Model: l.Model(), ModelProvider: l.Provider.ID(), KeyVariable: l.Provider.KeyVariable(),
		Loaded: l.Loaded(), Written: l.Written(), Temp: l.Temp.Roots(),
		Thread: func() map[string]any { return app.setup.ThreadConfig(l) }, Oversized: l.Oversized, Unreadable: l.Unreadable,
	}, nil
}

func thereIs(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no directory", dir)
	}
	return err
}

// makeFolders makes the folders that codex and the runtime need. codex ends at
// once where its home is missing.
func makeFolders(s settings.Settings) error {
	made := map[string]error{"CODEX_HOME": makeHome(s.CodexHome, s.User), "RUNTIME_STATE_DIR": os.MkdirAll(s.StateDir, 0o700)}
	if s.MadeWorkDir {
		made["RUNTIME_WORKDIR"] = makeHome(s.WorkDir, s.User)
	}
	for name, err := range made {
		if err != nil {
			return fmt.Errorf("%s: %w (set %s to a directory that can be written)", name, err, name)
		}
	}
	return nil
}

// makeHome makes codex's home, which is codex's user's. Where only we can make it, it is
// given to that user, which takes root.
func makeHome(home string, user *asuser.User) error {
	err := user.Do(func() error { return os.MkdirAll(home, 0o700) })
	if user == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return user.Give(home)
}
