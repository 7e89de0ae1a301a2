package codextemp

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// Sockets is the folder that codex keeps for its sockets in the temp directory of all
// users, wherever TMPDIR is: where it is another user's, codex starts no sandbox (0.169.0).
// It is empty on a system whose sandbox does without.
func Sockets(user *asuser.User) string {
	if runtime.GOOS != "linux" {
		return ""
	}
	return fmt.Sprintf("/tmp/codex-daemon-%d", user.Number())
}

// A socketsFolder is that folder, held open under a lock: nobody uses it for weeks, and what
// tidies the temp directory leaves alone what is locked.
type socketsFolder struct {
	path string // empty where there is none
	user *asuser.User

	mu   sync.Mutex // guards the field below
	held *os.File   // nil while it is not held
}

// take makes the folder before another user of the machine can, and holds it. Whose it is if
// this fails, the check of the sandbox says.
func (s *socketsFolder) take() {
	if s.path == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.user.Do(func() error {
		if err := os.Mkdir(s.path, 0o700); err != nil && !os.IsExist(err) {
			return err
		}
		dir, err := os.OpenFile(s.path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err != nil {
			return err
		}
		// Others of this user share it.
		if err := errors.Join(owned(s.user, dir), unix.Flock(int(dir.Fd()), unix.LOCK_SH|unix.LOCK_NB)); err != nil {
			_ = dir.Close()
			return err
		}
		s.leaveLocked()
		s.held = dir
		return nil
	})
}

// leaveLocked lets it go.
func (s *socketsFolder) leaveLocked() {
	if s.held != nil {
		_ = s.held.Close()
	}
	s.held = nil
}

// Close lets it go. It stays: codex of the same user may run elsewhere.
func (s *socketsFolder) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leaveLocked()
}
