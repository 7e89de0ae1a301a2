package adapter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// A settingsFolder is what stands at the .codex of the work directory. As long as it is open, no
// other folder gets its number; a file or a link settles something by itself.
type settingsFolder struct {
	which string // as by [which], or noFolder; empty where it cannot be looked at
	open  *os.File
}

const noFolder = "none"

func (l Launch) settingsFolder() settingsFolder {
	f, _ := asuser.Value(l.User, func() (f settingsFolder, err error) {
		f.which, err = which(l.settingsDir())
		if errors.Is(err, fs.ErrNotExist) {
			f.which = noFolder
		}
		if err == nil {
			f.open, _ = regular.Folder(l.settingsDir())
		}
		return f, nil
	})
	return f
}

func (f settingsFolder) close() {
	if f.open != nil {
		_ = f.open.Close()
	}
}

func (l Launch) settingsDir() string { return filepath.Join(l.WorkDir, ".codex") }

// holdSettings notes which .codex commands of the codex that is started now have to be read.
func (s *Setup) holdSettings(f settingsFolder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settings != nil {
		s.settings.close()
	}
	s.settings = &f
}

// A change is what became of the .codex of the work directory since codex was started.
type change int

const (
	kept change = iota
	// replaced is one in whose place there is another, or none, or which could not be looked at
	// before.
	replaced
	// hidden is one that cannot be looked at now, of which nothing is known and nothing is to be done.
	hidden
)

// changed looks at the .codex of the work directory. Commands have the one of codex's start to be
// read. When it is taken away from outside of the sandbox, as git does that cleans up or checks out
// a branch, what shows it goes as well, and commands that run then write what comes in its place:
// also between our look at it and codex's.
func (s *Setup) changed(l Launch) change {
	if !l.Sandboxed {
		return kept
	}
	now := l.settingsFolder()
	now.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.settings == nil:
		return kept
	case now.which == "":
		return hidden
	case now.which != s.settings.which:
		return replaced
	}
	return kept
}
