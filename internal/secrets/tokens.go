package secrets

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// CloseTokens takes from codex's user what it can read of the workspace's tokens: a platform may
// write them into a container that runs, root's and readable for all. Those that cannot
// be taken are in left, and said once.
func CloseTokens(s settings.Settings, log *slog.Logger, left map[string]bool) {
	if s.User == nil {
		return
	}
	for _, file := range TokenFiles(s) {
		info, err := os.Lstat(file)
		if err != nil || info.Mode().Perm()&0o077 == 0 {
			delete(left, file)
			continue
		}
		err = closeToken(s.User, file)
		if err != nil && !errors.Is(err, platform.ErrWritten) && !left[file] {
			left[file] = true
			log.Warn("codex's user can read a token of the workspace", "file", file, "err", err, "fix", "make it readable for the runtime's user alone")
		}
	}
}

func closeToken(user *asuser.User, file string) error {
	open, err := asuser.Value(user, func() (string, error) { return Readable([]string{file}), nil })
	if err != nil || open == "" {
		return err
	}
	return platform.Close(file)
}

// tokensAgain is how often it is looked for tokens that were written anew.
const tokensAgain = time.Second

// WatchTokens closes those that come while codex runs.
func WatchTokens(ctx context.Context, s settings.Settings, log *slog.Logger) {
	left := map[string]bool{}
	ticker := time.NewTicker(tokensAgain)
	defer ticker.Stop()
	for {
		CloseTokens(s, log, left)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// TokenFiles are the files with the tokens of a workspace.
func TokenFiles(s settings.Settings) (files []string) {
	if s.InWorkspace() {
		files = append(files, filepath.Join(s.ConfigsDir, platform.TokenFile), filepath.Join(s.ConfigsDir, platform.InboundSecretFile))
	}
	for _, file := range []string{s.TokenFile, s.MachinesSecret} {
		if file != "" {
			files = append(files, file)
		}
	}
	return files
}

// Readable returns the first file that can be read; "" if none can.
func Readable(files []string) string {
	for _, name := range files {
		if f, _, err := regular.Open(name); err == nil {
			_ = f.Close()
			return name
		}
	}
	return ""
}
