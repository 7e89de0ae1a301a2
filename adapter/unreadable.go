package adapter

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// Unreadable says why codex must not, or cannot, load a conversation in the work directory: it reads
// the .codex/config.toml there whole, also where it does not go by it, and refuses all
// conversations for one that is no file (seen on 0.169.0). Commands, and a branch, can bring
// either. Empty if nothing is wrong with it.
func (l Launch) Unreadable() (why string) {
	path := filepath.Join(l.WorkDir, ".codex", "config.toml")
	_ = l.User.Do(func() error {
		info, err := os.Stat(path)
		if _, missing := os.Lstat(path); os.IsNotExist(missing) {
			return nil
		}
		switch {
		case err != nil:
			why = fmt.Sprintf("%s cannot be read: %v", path, err)
		case !info.Mode().IsRegular():
			why = path + " is no file"
		case within.Exceeds(path, mostConfig):
			why = path + " has more than 1 MiB, or does not say how much, and codex would have all of it in memory"
		}
		return nil
	})
	return why
}

// Crossed is what stands in the work directory in the place of a folder that codex's sandbox keeps
// from commands, and is a link, with which it runs no command at all; empty if nothing is.
func (l Launch) Crossed() (path string) {
	_ = l.User.Do(func() error {
		for _, name := range masked() {
			at := filepath.Join(l.WorkDir, name)
			if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				path = at
			}
		}
		return nil
	})
	return path
}
