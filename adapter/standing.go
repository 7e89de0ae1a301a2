package adapter

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// standing is the .codex of the work directory that stood there when codex was started, held so
// that no other folder gets its number; nil where there was none.
//
// Commands see it as a mount that they can read. Where somebody takes it away meanwhile, by a
// checkout or git clean, the mount goes with it, and a command that runs can make a folder of its
// own there, which it goes on to write: it can show codex settings that a look a moment before does
// not find. So another folder in its place is not trusted, until codex and with it all commands end.
type standing struct{ folder *os.File }

func codexFolder(dir string) string { return filepath.Join(dir, ".codex") }

// Stand holds what stands there now.
func (l Launch) Stand() Launch {
	folder, err := asuser.Value(l.User, func() (*os.File, error) {
		return os.OpenFile(codexFolder(l.WorkDir), os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	})
	l.stood = &standing{folder}
	if err != nil {
		l.stood.folder = nil
	}
	return l
}

// replaced reports whether another stands in its place, or none any more.
func (s *standing) replaced(dir string) bool {
	if s == nil {
		return false
	}
	now, err := os.Lstat(codexFolder(dir))
	if s.folder == nil {
		return err == nil
	}
	before, unknown := s.folder.Stat()
	return err != nil || unknown != nil || !os.SameFile(before, now)
}
