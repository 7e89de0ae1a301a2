package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// ErrMany says that a folder has more names than are looked at.
var ErrMany = errors.New("there are too many names in it")

// mostLooked is how many names of a folder are looked at. That takes about a second.
const mostLooked = 1 << 20

// Folder opens a folder, and nothing that stands in its place.
func Folder(dir string) (*os.File, error) {
	return os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY, 0)
}

// Root is [os.OpenRoot], which would wait for the other end of a pipe in the folder's place.
func Root(dir string) (*os.Root, error) {
	if dir == "" { // which the slash would make the root of the file system
		return nil, &fs.PathError{Op: "open", Path: dir, Err: fs.ErrNotExist}
	}
	return os.OpenRoot(dir + "/.")
}

// RootIn is [Root] of a folder below another one.
func RootIn(root *os.Root, name string) (*os.Root, error) { return root.OpenRoot(name + "/.") }

// Each calls visit with the names in a folder, in no order, until that has an error. They may
// be millions, and do not come into memory together. Of more than are looked at it returns
// [ErrMany].
func Each(dir string, visit func(name string) error) error {
	f, err := Folder(dir)
	if err != nil {
		return err
	}
	return errors.Join(each(f, visit), f.Close())
}

// EachIn is [Each] of a folder that is open.
func EachIn(root *os.Root, visit func(name string) error) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(each(f, visit), f.Close())
}

func each(f *os.File, visit func(name string) error) error {
	for looked := 0; looked < mostLooked; {
		names, err := f.Readdirnames(1024)
		for _, name := range names {
			if err := visit(name); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		looked += len(names)
	}
	return &fs.PathError{Op: "read", Path: f.Name(), Err: ErrMany}
}

// Names returns the names in a folder that are wanted, in order: at most so many, with
// [ErrMany] where there are more.
func Names(dir string, most int, wanted func(name string) bool) ([]string, error) {
	return names(most, wanted, func(visit func(string) error) error { return Each(dir, visit) })
}

// NamesIn is [Names] of a folder that is open.
func NamesIn(root *os.Root, most int, wanted func(name string) bool) ([]string, error) {
	return names(most, wanted, func(visit func(string) error) error { return EachIn(root, visit) })
}

func names(most int, wanted func(string) bool, each func(visit func(string) error) error) (names []string, err error) {
	err = each(func(name string) error {
		switch {
		case !wanted(name):
			return nil
		case len(names) == most:
			return ErrMany
		}
		names = append(names, name)
		return nil
	})
	slices.Sort(names)
	return names, err
}

// All wants every name.
func All(string) bool { return true }
