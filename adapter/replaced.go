package adapter

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// A settingsFolder is what stood at the .codex of the work directory when codex was started; info is
// nil where nothing did. As long as it is open, no other folder gets its number; a file or a link
// settles something by itself.
type settingsFolder struct {
	info    fs.FileInfo
	open    *os.File
	unknown bool // it could not be looked at, as where a command has closed the work directory
}

func (l Launch) settingsFolder() settingsFolder {
	f, _ := asuser.Value(l.User, func() (f settingsFolder, err error) {
		f.info, err = os.Lstat(l.settingsDir())
		f.unknown = err != nil && !errors.Is(err, fs.ErrNotExist)
		if err == nil && f.info.IsDir() {
			f.open, err = regular.Folder(l.settingsDir())
		}
		return f, err
	})
	return f
}

func (l Launch) settingsDir() string { return filepath.Join(l.WorkDir, ".codex") }

// holdSettings notes which .codex commands of the codex that is started now have to be read.
func (s *Setup) holdSettings(l Launch) {
	f := l.settingsFolder()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settings != nil && s.settings.open != nil {
		_ = s.settings.open.Close()
	}
	s.settings = &f
}

// replaced reports whether another .codex stands in the work directory than when codex was started,
// or none. Commands have that one to be read. When it is taken away from outside of the sandbox, as
// git does that cleans up or checks out a branch, what shows it goes as well, and commands that run
// then write what comes in its place: also between our look at it and codex's.
//
// Where that cannot be told now it may be, and nothing is to be done about it.
func (s *Setup) replaced(l Launch) (replaced, maybe bool) {
	if !l.Sandboxed {
		return false, false
	}
	now := l.settingsFolder()
	if now.open != nil {
		_ = now.open.Close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch was := s.settings; {
	case was == nil:
		return false, false
	case now.unknown || was.unknown:
		return false, true
	case was.info == nil || now.info == nil:
		return was.info != now.info, false
	default:
		return !os.SameFile(was.info, now.info), false
	}
}
