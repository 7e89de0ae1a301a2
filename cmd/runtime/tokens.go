package main

import (
	"context"
	"os"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// closeTokens takes from codex's user what it can read of the workspace's tokens: a platform may
// write them into a container that runs, root's and readable for all.
func (app *application) closeTokens(s settings.Settings) {
	for _, file := range tokenFiles(s) {
		app.closeToken(s.User, file)
	}
}

func (app *application) closeToken(user *asuser.User, file string) {
	if user == nil {
		return
	}
	open, err := asuser.Value(user, func() (string, error) { return readable([]string{file}), nil })
	if err != nil || open == "" {
		return
	}
	if err := platform.Close(file); err != nil {
		app.log.Warn("codex's user can read a token of the workspace", "file", file, "err", err, "fix", "make it readable for the runtime's user alone")
		return
	}
	app.log.Info("a token of the workspace that codex's user could read is the runtime's alone now", "file", file)
}

// tokensAgain is how often it is looked for tokens that were written anew.
const tokensAgain = time.Second

// watchTokens closes those that come while codex runs.
func (app *application) watchTokens(ctx context.Context, s settings.Settings) {
	left := map[string]time.Time{} // as it is: what cannot be closed is said once
	ticker := time.NewTicker(tokensAgain)
	defer ticker.Stop()
	for {
		for _, file := range tokenFiles(s) {
			info, err := os.Lstat(file)
			if err != nil || info.Mode().Perm()&0o077 == 0 {
				delete(left, file)
				continue
			}
			if info.Size() > 0 && !info.ModTime().Equal(left[file]) { // without, it is being written
				left[file] = info.ModTime()
				app.closeToken(s.User, file)
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
