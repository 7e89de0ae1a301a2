package store

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// others are the rights of users that are not the owner.
const others = 0o077

// private keeps other users of the machine out of the state directory. One that was made
// before, or restored, may be open to them: it is closed where it is ours. One that is
// another user's is left as it is, as a volume whose group is ours, unless every user may
// replace what is in it.
func private(dir string, log *slog.Logger) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fileError(dir, err)
	}
	switch owner, mode := ownerOf(info), info.Mode(); {
	case owner == os.Geteuid() && mode&others != 0:
		if err := closeTo(dir, mode); err != nil {
			return fmt.Errorf("state directory %s is open to other users of this machine, and that cannot be changed: choose another directory (%w)", dir, err)
		}
		log.Warn("state directory was open to other users of this machine, and is not any more", "dir", dir, "was", mode.Perm().String())
	case owner != os.Geteuid() && mode&0o002 != 0:
		return fmt.Errorf("state directory %s belongs to user %d, and every user of this machine may write it: take that right away (chmod o-w), or choose another directory", dir, owner)
	}
	return closeFiles(dir)
}

// closeFiles does the same to what is in the directory and of our making: where the
// directory is another user's, nothing else keeps the files closed.
func closeFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fileError(dir, err)
	}
	for _, entry := range entries {
		if name := entry.Name(); name != "files" && !strings.HasPrefix(name, "state.") {
			continue
		}
		info, err := entry.Info()
		if err != nil || ownerOf(info) != os.Geteuid() || info.Mode()&others == 0 || !info.IsDir() && !info.Mode().IsRegular() {
			continue // one that has gone is open to nobody
		}
		if err := closeTo(filepath.Join(dir, entry.Name()), info.Mode()); err != nil {
			return fileError(filepath.Join(dir, entry.Name()), err)
		}
	}
	return nil
}

// closeTo takes the rights of others away, and looks whether they are: some file systems
// know no rights and say nothing.
func closeTo(path string, mode fs.FileMode) error {
	if err := os.Chmod(path, mode&^others); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode()&others != 0 {
		err = fmt.Errorf("its rights stay %s", info.Mode().Perm())
	}
	return err
}

func ownerOf(info fs.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
