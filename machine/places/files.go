package places

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// MostFile is how large a file may be that is read or written.
const MostFile = 100 << 20

// root opens the folder of a place. Nothing on the way to it leads out of the machine's root.
func (p *Places) root(runtime, place string) (*os.Root, error) {
	below, err := p.folder(runtime, place)
	if err != nil {
		return nil, err
	}
	all, err := regular.Root(p.cfg.Root)
	if err != nil {
		return nil, err
	}
	defer all.Close()
	root, err := regular.RootIn(all, below)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errUnknown()
	}
	return root, refused(err, "the place")
}

// Read opens a file of a place. The caller closes it.
func (p *Places) Read(runtime, place, name string) (f *os.File, size int64, err error) {
	if name, err = local(name); err != nil {
		return nil, 0, err
	}
	err = p.cfg.User.Do(func() error {
		root, err := p.root(runtime, place)
		if err != nil {
			return err
		}
		defer root.Close()
		opened, info, err := regular.OpenIn(root, name)
		if about, errStat := root.Stat(name); err != nil && errStat == nil && !about.Mode().IsRegular() {
			return &Refused{wire.CodePath, name + " is no file"}
		}
		if err != nil {
			return refused(err, name)
		}
		if info.Size() > MostFile {
			return errors.Join(tooLarge(name), opened.Close())
		}
		f, size = opened, info.Size()
		return nil
	})
	return f, size, err
}

// Write writes a file of a place, whole or not at all, and makes the folders that it lies in.
func (p *Places) Write(runtime, place, name string, text io.Reader) (err error) {
	if name, err = local(name); err != nil {
		return err
	}
	w, err := asuser.Value(p.cfg.User, func() (*writing, error) { return p.begin(runtime, place, name) })
	if err != nil {
		return err
	}
	defer w.root.Close()
	n, err := io.Copy(w.file, io.LimitReader(text, MostFile+1))
	if err == nil && n > MostFile {
		err = tooLarge(name)
	}
	return p.cfg.User.Do(func() error { return w.end(err) })
}

// A writing is a file that is being written, under another name.
type writing struct {
	root       *os.Root
	file       *os.File
	name, temp string
}

// begin opens the file under its other name.
func (p *Places) begin(runtime, place, name string) (*writing, error) {
	root, err := p.root(runtime, place)
	if err != nil {
		return nil, err
	}
	w := &writing{root: root, name: name, temp: path.Join(path.Dir(name), ".machine-"+rand.Text())}
	mode := fs.FileMode(0o644)
	if info, errStat := root.Lstat(name); errStat == nil && info.Mode().IsRegular() {
		mode = info.Mode().Perm() // one that can be run stays so
	} else if errStat == nil && info.IsDir() {
		err = &Refused{wire.CodePath, name + " is a folder"}
	}
	if err == nil {
		err = root.MkdirAll(path.Dir(name), 0o755)
	}
	if err == nil {
		w.file, err = root.OpenFile(w.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, mode)
	}
	if err != nil {
		return nil, errors.Join(refused(err, name), root.Close())
	}
	return w, nil
}

// end gives the file its name, unless it could not be written.
func (w *writing) end(err error) error {
	err = errors.Join(err, w.file.Close())
	if err == nil {
		err = w.root.Rename(w.temp, w.name)
	}
	if err != nil {
		return errors.Join(refused(err, w.name), w.root.Remove(w.temp))
	}
	return nil
}

// local returns a path below a place in its shortest form.
func local(name string) (string, error) {
	if strings.ContainsRune(name, 0) || !filepath.IsLocal(name) || path.Clean(name) == "." {
		return "", &Refused{wire.CodePath, fmt.Sprintf("%.200q is no path of a file below the place", name)}
	}
	return path.Clean(name), nil
}

func tooLarge(name string) error {
	return &Refused{wire.CodeTooLarge, fmt.Sprintf("%s has more than %d MiB", name, MostFile>>20)}
}

// refused puts an error of a file into the words of the wire.
func refused(err error, name string) error {
	if known, ok := errors.AsType[*Refused](err); ok {
		return known
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return &Refused{wire.CodeMissing, name + " is not there"}
	case escapes(err):
		return &Refused{wire.CodePath, name + " leads out of the place"}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrExist), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ELOOP):
		return &Refused{wire.CodePath, fmt.Sprintf("%s cannot be used: %v", name, err)}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &Refused{wire.CodeFailed, "there is no room for " + name + " on the disk of this machine"}
	}
	return fmt.Errorf("%s: %w", name, err)
}

// escapes reports whether [os.Root] has refused to follow a path: its error has no name.
func escapes(err error) bool { return strings.Contains(err.Error(), "path escapes from parent") }
