package main

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// closeTokens takes from codex's user what it can read of the workspace's tokens: a platform may
// write them into a container that runs, root's and readable for all. Those that cannot
// be taken are in left, and said once.
func (app *application) closeTokens(s settings.Settings, left map[string]bool) {
	if s.User == nil {
		return
	}
	for _, file := range tokenFiles(s) {
		info, err := os.Lstat(file)
		if err != nil || info.Mode().Perm()&0o077 == 0 {
			delete(left, file)
			continue
		}
		err = closeToken(s.User, file)
		if err != nil && !errors.Is(err, platform.ErrWritten) && !left[file] {
			left[file] = true
			app.log.Warn("codex's user can read a token of the workspace", "file", file, "err", err, "fix", "make it readable for the runtime's user alone")
		}
	}
}

func closeToken(user *asuser.User, file string) error {
	open, err := asuser.Value(user, func() (string, error) { return readable([]string{file}), nil })
	if err != nil || open == "" {
		return err
	}
	return platform.Close(file)
}

// tokensAgain is how often it is looked for tokens that were written anew.
const tokensAgain = time.Second

// watchTokens closes those that come while codex runs.
func (app *application) watchTokens(ctx context.Context, s settings.Settings) {
	left := map[string]bool{}
	ticker := time.NewTicker(tokensAgain)
	defer ticker.Stop()
	for {
		app.closeTokens(s, left)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
