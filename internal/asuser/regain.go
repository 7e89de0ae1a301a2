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
// enter it any more, and logs that: a command that works in a folder can take these rights
// from the folder itself, and with them all that others do there. A folder of somebody
// else's stays as it is.
func (u *User) Regain(dir string, log *slog.Logger) {
	info, err := os.Stat(dir)
	if err == nil {
		u.regain(info, dir, func(mode os.FileMode) error { return u.Do(func() error { return os.Chmod(dir, mode) }) }, log)
	}
}

// RegainIn is Regain for what is in a folder by a name, if it is a folder and no link to one. It
// runs as the user.
func (u *User) RegainIn(at *os.Root, name string, log *slog.Logger) {
	info, err := at.Lstat(name)
	if err == nil {
		u.regain(info, filepath.Join(at.Name(), name), func(mode os.FileMode) error { return at.Chmod(name, mode) }, log)
	}
}

func (u *User) regain(info os.FileInfo, path string, chmod func(os.FileMode) error, log *slog.Logger) {
	if !info.IsDir() || info.Mode()&owners == owners {
		return
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != u.Number() {
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
