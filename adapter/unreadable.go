package adapter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unicode/utf8"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// Unreadable says why codex must not, or cannot, load a conversation in the work directory: from the
// root of its repository down it reads each .codex/config.toml whole, also where it does not go by
// it, and refuses all conversations for one that is no file or no text (seen on 0.169.0). Commands,
// and a branch, can bring either. Empty if nothing is wrong with them.
func (l Launch) Unreadable() (why string) {
	config, _ := l.own()
	_ = l.User.Do(func() error {
		way, _ := wayTo(l.WorkDir, func(at string) bool { return isMarked(at, markersOf(config)) })
		for _, dir := range way {
			if why == "" {
				why = unreadable(filepath.Join(dir, ".codex", "config.toml"))
			}
		}
		return nil
	})
	return why
}

// Pipe is the named pipe that codex's own git waits at in the work directory, which it looks at as a bare
// repository where that is the root of none; empty without one.
func (l Launch) Pipe() (path string) {
	_ = l.User.Do(func() error {
		if isRepository(l.WorkDir) {
			return nil
		}
		for _, name := range []string{"HEAD", "commondir"} {
			at := filepath.Join(l.WorkDir, name)
			if info, err := os.Stat(at); path == "" && err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
				path = at
			}
		}
		return nil
	})
	return path
}

func unreadable(path string) string {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrPermission):
		return "" // to codex it is not there, or commands have closed it for a moment
	case err != nil:
		return fmt.Sprintf("%s cannot be read: %v", path, err)
	case !info.Mode().IsRegular():
		return path + " is no file"
	case within.Exceeds(path, mostConfig):
		return path + " has more than 1 MiB, or does not say how much, and codex would have all of it in memory"
	}
	text, err := regular.Read(path, mostConfig)
	switch {
	case errors.Is(err, fs.ErrNotExist): // by now
		return ""
	case err != nil: // as codex's user
		return fmt.Sprintf("%s cannot be read: %v", path, err)
	case !utf8.Valid(text):
		return path + " is no text in UTF-8"
	}
	return ""
}

// Crossed is what stands in a directory that commands write in the place of a folder that codex's
// sandbox keeps from them, and is a link, with which it runs no command at all; empty if nothing is.
func (l Launch) Crossed() (path string) {
	_ = l.User.Do(func() error {
		for _, dir := range append([]string{l.WorkDir}, l.Written()...) {
			for _, name := range masked() {
				at := filepath.Join(dir, name)
				if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 && path == "" {
					path = at
				}
			}
		}
		return nil
	})
	return path
}
