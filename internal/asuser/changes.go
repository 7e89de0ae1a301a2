package asuser

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Changes reports whether the user says what an absolute path leads to: by writing it, or by
// what stands in its place, or in that of a folder or link on the way to it. Of what this
// process cannot look at it does not say so.
func (u *User) Changes(path string) bool {
	for range mostLinks {
		cut := strings.LastIndexByte(path, '/')
		dir, name := path[:cut+1], path[cut+1:]
		parent, err := u.enter(dir)
		if err != nil {
			return errors.Is(err, errTheirs)
		}
		target, err := u.link(parent, name)
		theirs := errors.Is(err, errTheirs) || err != nil && u.writes(parent, name)
		_ = unix.Close(parent)
		if err != nil {
			return theirs
		}
		if path = target; !filepath.IsAbs(target) {
			path = dir + target // not joined: that would take the dots after a link out
		}
	}
	return false
}

// writes reports whether the user can write what is no link.
func (u *User) writes(at int, name string) bool {
	var stat unix.Stat_t
	if err := unix.Fstatat(at, name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil || stat.Uid == u.UID {
		return err == nil
	}
	return u.Do(func() error { return unix.Faccessat(at, name, unix.W_OK, unix.AT_EACCESS) }) == nil
}
