package asuser

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// mostLinks is how many links may be on the way to a folder, as for the kernel.
const mostLinks = 40

// Give makes a folder where the user may not, and gives it to the user, which takes root.
// There must be nothing of the user's on the way: a user who can put a link in the place of a
// folder would be given what it leads to.
func (u *User) Give(path string) error {
	path, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	parent, err := u.enter(filepath.Dir(path))
	if errors.Is(err, errTheirs) {
		return fmt.Errorf("%w on the way to %s, which %v may not make: make it, and give it to that user", errTheirs, path, u)
	}
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	name := filepath.Base(path)
	if err := unix.Mkdirat(parent, name, 0o700); err != nil {
		return &os.PathError{Op: "mkdir", Path: path, Err: err}
	}
	made, err := unix.Openat(parent, name, folder, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(made)
	if err := unix.Fchown(made, int(u.UID), int(u.GID)); err != nil {
		_ = unix.Unlinkat(parent, name, unix.AT_REMOVEDIR) // as ours it would be in the user's way
		return &os.PathError{Op: "chown", Path: path, Err: err}
	}
	return nil
}

// errTheirs says that a way leads where the user says.
var errTheirs = errors.New("the user that codex runs as can change a folder or a link")

const folder = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// enter opens a folder, step by step: each step is taken in a folder in which the user can
// replace nothing, so that it leads where it led when it was looked at.
func (u *User) enter(path string) (fd int, err error) {
	at, err := unix.Open("/", folder|through, 0)
	if err != nil {
		return -1, err
	}
	way, links := split(path), 0
	for {
		if u.holds(at) {
			_ = unix.Close(at)
			return -1, errTheirs
		}
		if len(way) == 0 {
			return at, nil
		}
		name := way[0]
		way = way[1:]
		next, err := unix.Openat(at, name, folder|through, 0)
		if err == nil {
			_ = unix.Close(at)
			at = next
			continue
		}
		target, err := u.link(at, name)
		if links++; err == nil && links > mostLinks {
			err = unix.ELOOP
		}
		if err != nil {
			_ = unix.Close(at)
			return -1, &os.PathError{Op: "open", Path: path, Err: err}
		}
		way = append(split(target), way...)
		if filepath.IsAbs(target) {
			_ = unix.Close(at)
			if at, err = unix.Open("/", folder|through, 0); err != nil {
				return -1, err
			}
		}
	}
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// holds reports whether the user can replace what is in a folder. In a sticky one that goes
// for what is the user's own, which is seen at the next step.
func (u *User) holds(fd int) bool {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil || stat.Uid == u.UID {
		return true
	}
	err := u.Do(func() error { return unix.Faccessat(fd, ".", unix.W_OK, unix.AT_EACCESS) })
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EROFS) {
		return false
	}
	return stat.Mode&unix.S_ISVTX == 0
}

// link reads a link that is not the user's.
func (u *User) link(at int, name string) (target string, err error) {
	var stat unix.Stat_t
	if err := unix.Fstatat(at, name, &stat, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return "", err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFLNK {
		return "", unix.ENOTDIR
	}
	if stat.Uid == u.UID {
		return "", errTheirs
	}
	text := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(at, name, text)
	return string(text[:max(n, 0)]), err
}
