package asuser

import (
	"log/slog"
	"os"
	"syscall"
)

// others are the rights of everybody but the owner.
const others = 0o077

// Shut closes the user's own folder to other users of the machine, where they may enter it or
// see its names, and logs that. A folder of somebody else's stays as it is.
func (u *User) Shut(dir string, log *slog.Logger) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() || info.Mode()&others == 0 {
		return
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != u.Number() {
		return
	}
	const special = os.ModeSetuid | os.ModeSetgid | os.ModeSticky
	mode := info.Mode() & (os.ModePerm | special) &^ others
	err = u.Do(func() error { return os.Chmod(dir, mode) })
	if now, failed := os.Stat(dir); err == nil && failed == nil && now.Mode()&others == 0 {
		log.Warn("a folder was open to other users of this machine, and is not any more", "path", dir, "was", info.Mode())
		return
	}
	log.Error("a folder is open to other users of this machine, who may read in it what was asked and answered: give it the mode go-rwx", "path", dir, "mode", info.Mode(), "err", err)
}
