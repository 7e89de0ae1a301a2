package launch

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// configWait is how long a container may run before its config.yaml is there.
const configWait = 60 * time.Second

// WithFiles returns environ with what the files of a workspace say: its secrets, and
// the settings in its config.yaml that nothing in the environment says. What cannot
// be used of them is warned about by others. The error is that of [adapter.SecretFiles].
func WithFiles(s settings.Settings, environ []string) ([]string, error) {
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
	if settings.Value(environ, name) != "" {
		return environ
	}
	return append(slices.Clone(environ), name+"="+value)
}

// base is what is known of the start of codex before the files of a workspace are
// read. ScriptedURL is where the built-in model listens, or empty if that is not in use.
func base(s settings.Settings, environ []string, scriptedURL string) adapter.Launch {
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

// Program is the codex that would be started, to be asked about itself.
func Program(s settings.Settings, environ []string) preflight.Program {
	start, _, _, _ := adapter.Look(Setup(s, environ, "")) // what is wrong with it has a check of its own
	return preflight.Program{Bin: s.CodexBin, Env: start.BareEnv(), User: s.User}
}

// Setup is what is known of the start of codex; checks look at it, too.
func Setup(s settings.Settings, environ []string, scriptedURL string) adapter.SetupConfig {
	cfg := adapter.SetupConfig{Launch: base(s, environ, scriptedURL), Trusted: filepath.Join(s.StateDir, "trusted-codex")}
	if s.InWorkspace() {
		cfg.File, cfg.Secrets, cfg.Fixed = s.ConfigFile, s.SecretsDir, s.Scripted()
	}
	return cfg
}
