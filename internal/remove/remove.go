// Package remove removes folders that others have filled: with any number of files, with
// folders that may not be written or entered, or with folders in one another, of which
// [os.RemoveAll] has as many open as there are.
package remove

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// All removes what stands at a path, and follows no link. It has a few folders open, however
// deep they are: what is deeper is moved up before it is removed. What is not there is no
// error. One of [syscall.ENOTEMPTY] says that something was put there meanwhile.
func All(path string) error {
	above, err := regular.Root(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer above.Close()
	r, name := remover{mark: mark()}, filepath.Base(path)
	if r.remove(above, name) {
		return nil
	}
	top, err := enter(above, name)
	if err != nil {
		return cmp.Or(r.failed, err)
	}
	r.empty(top)
	if err := top.Close(); err != nil {
		return err
	}
	if r.remove(above, name) {
		return nil
	}
	return r.failed
}

// A remover removes what is in one folder.
type remover struct {
	mark   string // begins the names of what is moved up
	done   int    // what was removed or moved up
	failed error  // why something is still there
}

func mark() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return ".removed-" + hex.EncodeToString(b[:])
}

// remove removes a file, a link or an empty folder, and reports whether it is gone.
func (r *remover) remove(root *os.Root, name string) bool {
	err := root.Remove(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.fault(err)
		return false
	}
	r.done++
	return true
}

// fault keeps the first fault that is not the consequence of another one.
func (r *remover) fault(err error) {
	if r.failed == nil || errors.Is(r.failed, syscall.ENOTEMPTY) {
		r.failed = err
	}
}

// empty removes what is in a folder, again and again as long as something comes of it.
func (r *remover) empty(top *os.Root) {
	for before := -1; before != r.done; {
		before, r.failed = r.done, nil
		err := regular.EachIn(top, func(name string) error {
			if !r.remove(top, name) {
				r.lift(top, name)
			}
			return nil
		})
		if err != nil && !errors.Is(err, regular.ErrMany) { // the rest comes with the next round
			r.fault(err)
		}
	}
}

// lift removes a folder after what is in it; the folders in it, where there is something in
// them, are moved up to the top.
func (r *remover) lift(top *os.Root, name string) {
	folder, err := enter(top, name)
	if err != nil {
		return // it is none, or cannot be entered: why it is not removed is known
	}
	_ = regular.EachIn(folder, func(below string) error {
		if r.remove(folder, below) {
			return nil
		}
		deeper, err := enter(folder, below) // which opens it: it may not be moved otherwise
		if err != nil {
			return nil //nolint:nilerr // it is no folder: why it is not removed is known
		}
		_ = deeper.Close()
		if err := top.Rename(name+"/"+below, fmt.Sprintf("%s-%d", r.mark, r.done)); err != nil {
			r.fault(err)
			return nil
		}
		r.done++
		return nil
	})
	_ = folder.Close()
	r.remove(top, name)
}

// enter opens a folder, which its owner may have to be allowed before, and no link to one.
func enter(root *os.Root, name string) (*os.Root, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.IsDir() {
		return nil, &fs.PathError{Op: "enter", Path: name, Err: syscall.ENOTDIR}
	}
	if seen.Mode().Perm() != 0o700 {
		_ = root.Chmod(name, 0o700) // the removal says what is in its way
	}
	folder, err := regular.RootIn(root, name)
	if err != nil {
		return nil, err
	}
	if info, err := folder.Stat("."); err != nil || !os.SameFile(seen, info) {
		return nil, errors.Join(&fs.PathError{Op: "enter", Path: name, Err: syscall.ENOTDIR}, err, folder.Close())
	}
	return folder, nil
}
