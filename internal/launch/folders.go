package launch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

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

func thereIs(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no directory", dir)
	}
	return err
}

// UserNote says who codex's commands run as, for the log.
func UserNote(user *asuser.User) string {
	if user == nil {
		return fmt.Sprintf("%v, who is the runtime's: without a sandbox commands can read its state and tokens", user)
	}
	return fmt.Sprintf("%v, who cannot read the runtime's state and tokens", user)
}
