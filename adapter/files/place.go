package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// mostSwaps is how often a step is taken again that something has come in the way of.
const mostSwaps = 10

// What stands where a folder is to be.
var (
	errLink     = errors.New("a link stands there, which is not followed: remove it")
	errNoFolder = errors.New("something else than a folder stands there: move it away")
	errSwapped  = errors.New("something else was put there meanwhile: send the message again")
)

// open opens the folder, and makes what is not there of it.
//
// Commands write the working directory and this process writes more than they may: a link
// in the place of the folder would have it put their files where they cannot. So the way
// there is gone step by step, and what is open then is what stood there, whatever is put
// into its place meanwhile.
func (f *Folder) open() (*os.Root, error) {
	made := false
	root, err := f.descend(func(at *os.Root, name string) (next *os.Root, err error) {
		next, made, err = f.claim(at, name)
		return next, err
	})
	if err == nil && made {
		ignore(root)
	}
	return root, err
}

// openExisting is open where nothing is to be made or moved.
func (f *Folder) openExisting() (*os.Root, error) { return f.descend(enter) }

// nothing reports that the folder is not there, by the error of openExisting: what a link in
// its place leads to is none of it.
func nothing(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errLink) }

func (f *Folder) descend(step func(at *os.Root, name string) (*os.Root, error)) (*os.Root, error) {
	f.cfg.User.Regain(f.cfg.Work, f.cfg.Log)
	at, err := regular.Root(f.cfg.Work)
	if err != nil {
		return nil, fmt.Errorf("open the working directory (RUNTIME_WORKDIR): %w", err)
	}
	for name := range strings.SplitSeq(place, "/") {
		f.cfg.User.RegainIn(at, name, f.cfg.Log)
		next, err := step(at, name)
		_ = at.Close()
		if err != nil {
			return nil, fmt.Errorf("the folder of files: %w", err)
		}
		at = next
	}
	return at, nil
}

// claim enters a folder that is made if nothing stands there. A link in its place is
// removed: refused, the one that a command has left would keep the files of all messages
// out, and a link holds nothing itself. Of a command that goes on putting links there the
// error speaks.
func (f *Folder) claim(at *os.Root, name string) (next *os.Root, made bool, err error) {
	for range mostSwaps {
		if next, err = enter(at, name); err == nil {
			return next, made, nil
		}
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if mkdir := at.Mkdir(name, 0o755); mkdir == nil {
				made = true
			} else if !errors.Is(mkdir, fs.ErrExist) {
				return nil, false, mkdir
			}
		case errors.Is(err, errLink):
			if unlink := f.unlink(at, name); unlink != nil {
				return nil, false, errors.Join(err, unlink)
			}
		case errors.Is(err, errNoFolder):
			return nil, false, err
		}
	}
	return nil, false, err
}

// unlink removes a link, and no folder, empty as it may be: one that stands there by now
// may be another message's.
func (f *Folder) unlink(at *os.Root, name string) error {
	target, _ := at.Readlink(name)
	dir, err := at.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	switch err := unix.Unlinkat(int(dir.Fd()), name, 0); {
	case err == nil:
		f.cfg.Log.Warn("a link stood in the place of the folder of files and was removed", "path", filepath.Join(at.Name(), name), "led_to", target)
	case !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EPERM): // it has changed meanwhile
		return &fs.PathError{Op: "unlink", Path: filepath.Join(at.Name(), name), Err: err}
	}
	return nil
}

// ignore says that files of messages are no part of a repository of the user's.
func ignore(root *os.Root) {
	file, err := root.OpenFile(".gitignore", os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return
	}
	_, _ = file.WriteString("*\n")
	_ = file.Close()
}

// enter opens a folder below another one, and no link to one.
func enter(root *os.Root, name string) (*os.Root, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if seen.Mode().Type() == fs.ModeSymlink {
		return nil, notEntered(root, name, errLink)
	}
	if !seen.IsDir() {
		return nil, notEntered(root, name, errNoFolder)
	}
	return enterSeen(root, name, seen)
}

// enterSeen is enter for what stood there when it was looked at: what was put there since
// is not entered, or is left again.
func enterSeen(root *os.Root, name string, seen fs.FileInfo) (*os.Root, error) {
	next, err := regular.RootIn(root, name)
	if err != nil {
		return nil, err
	}
	if info, err := next.Stat("."); err != nil || !os.SameFile(seen, info) {
		return nil, errors.Join(notEntered(root, name, errSwapped), err, next.Close())
	}
	return next, nil
}

func notEntered(root *os.Root, name string, why error) error {
	return &fs.PathError{Op: "enter", Path: filepath.Join(root.Name(), name), Err: why}
}
