package asuser

import (
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
)

// owners is what the owner of a folder needs to work in it.
const owners = 0o700

// Regain gives the user's own folder back to its owner, where that may not read, write or
// enter it any more, or what is made in it is closed to who makes it, and logs that: a command that
// works in a folder can take these rights from the folder itself, and with them all that others do
// there. A folder of somebody else's stays as it is.
func (u *User) Regain(dir string, log *slog.Logger) {
	info, err := os.Stat(dir)
	if err == nil && u.owns(info) {
		u.regain(info, dir, func(mode os.FileMode) error { return u.Do(func() error { return os.Chmod(dir, mode) }) }, log)
		if !mayHaveDefaultACL(dir) { // each turn asks, and to open it takes thrice as long
			return
		}
		u.uncover(dir, func(f func(*os.File) error) error {
			return u.Do(func() error { return opened(os.OpenFile, dir, f) })
		}, log)
	}
}

// RegainIn is Regain for what is in a folder by a name, if it is a folder and no link to one. It
// runs as the user.
func (u *User) RegainIn(at *os.Root, name string, log *slog.Logger) {
	info, err := at.Lstat(name)
	if err == nil && u.owns(info) {
		path := filepath.Join(at.Name(), name)
		u.regain(info, path, func(mode os.FileMode) error { return at.Chmod(name, mode) }, log)
		u.uncover(path, func(f func(*os.File) error) error { return opened(at.OpenFile, name, f) }, log)
	}
}

// owns reports whether something is a folder of the user's.
func (u *User) owns(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && stat.Uid == u.Number()
}

// opened calls f with a folder that open opens. It does not wait for a pipe in its place.
func opened(open func(string, int, os.FileMode) (*os.File, error), name string, f func(*os.File) error) error {
	dir, err := open(name, syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer dir.Close()
	return f(dir)
}

// uncover takes the default ACL from a folder by which what is made in it is closed to its owner.
func (u *User) uncover(path string, in func(func(*os.File) error) error, log *slog.Logger) {
	closed := false
	err := in(func(dir *os.File) (err error) {
		if closed = closesWhatIsMade(dir); closed {
			err = takeDefaultACL(dir)
		}
		return err
	})
	switch {
	case closed && err != nil:
		log.Error("what is made in a folder of commands is closed to its owner: take the folder's default ACL away (setfacl -k)", "path", path, "err", err)
	case closed:
		log.Warn("what was made in a folder of commands was closed to its owner by a default ACL, which is taken away; a command may have set it", "path", path)
	}
}

func (u *User) regain(info os.FileInfo, path string, chmod func(os.FileMode) error, log *slog.Logger) {
	if info.Mode()&owners == owners {
		return
	}
	const special = os.ModeSetuid | os.ModeSetgid | os.ModeSticky
	mode := info.Mode()&(os.ModePerm|special) | owners
	if err := chmod(mode); err != nil {
		log.Error("a folder of commands cannot be worked in by its owner: give it the mode u+rwx", "path", path, "mode", info.Mode(), "err", err)
		return
	}
	log.Warn("a folder of commands could not be worked in by its owner, who has it back; a command may have done that", "path", path, "mode", info.Mode(), "now", mode|os.ModeDir)
}

// Number is that of the user.
func (u *User) Number() uint32 {
	if u == nil {
		return uint32(os.Getuid())
	}
	return u.UID
}
