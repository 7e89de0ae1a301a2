package main

import (
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// closeTokens takes from codex's user what it can read of the workspace's tokens: a platform may
// write them into a container that runs, root's and readable for all. No command of codex's runs yet.
func (app *application) closeTokens(s settings.Settings) {
	if s.User == nil {
		return
	}
	for _, file := range tokenFiles(s) {
		open, err := asuser.Value(s.User, func() (string, error) { return readable([]string{file}), nil })
		if err != nil || open == "" {
			continue
		}
		if err := platform.Close(file); err != nil {
			app.log.Warn("codex's user can read a token of the workspace", "file", file, "err", err, "fix", "make it readable for the runtime's user alone, unless the next start of codex has it so")
			continue
		}
		app.log.Info("a token of the workspace that codex's user could read is the runtime's alone now", "file", file)
	}
}
