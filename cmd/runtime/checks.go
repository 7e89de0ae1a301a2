package main

import (
	"os"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// launch says how codex is started. ScriptedURL is where the built-in model
// listens, or empty if that is not in use.
func launch(s settings.Settings, environ []string, scriptedURL string) adapter.Launch {
	// A config.toml that cannot be read is codex's to complain about.
	config, _ := os.ReadFile(filepath.Join(s.CodexHome, "config.toml"))
	return adapter.Launch{
		Provider:   adapter.Provider{Key: s.OpenAIKey.Set(), BaseURL: s.OpenAIBaseURL, ScriptedURL: scriptedURL},
		Home:       s.CodexHome,
		WorkDir:    s.WorkDir,
		Lean:       s.CodexFeatures == "lean",
		Environ:    environ,
		UserConfig: string(config),
	}
}

// checks returns what has to hold for a turn to run. Doctor and readiness ask
// the same; the port is asked about by doctor only.
func checks(s settings.Settings, environ []string) []preflight.Check {
	env := launch(s, environ, "").Env()
	sandboxed := s.Sandbox != "danger-full-access"
	return []preflight.Check{
		preflight.Codex(s.CodexBin, appserver.PinnedVersion(), env),
		preflight.Sandbox(preflight.SandboxProbe{
			Bin: s.CodexBin, Mode: s.Sandbox, Home: s.CodexHome, Env: env, Contained: s.InContainer,
		}),
		preflight.Credential(preflight.Credentials{
			Scripted: s.Scripted(), Key: s.OpenAIKey.Set(), BaseURL: s.OpenAIBaseURL, Home: s.CodexHome,
		}),
		preflight.Writable("state directory", s.StateDir, "RUNTIME_STATE_DIR", true),
		preflight.Writable("work directory", s.WorkDir, "RUNTIME_WORKDIR", false),
		preflight.Writable("codex home", s.CodexHome, "CODEX_HOME", true),
		preflight.HomeOutsideTemp(s.CodexHome, s.TempDir, sandboxed),
	}
}
