package adapter

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// masked are the folders over which codex's sandbox mounts an empty one, in the work directory and in
// the temp directory of commands, where they are missing or empty (seen on 0.169.0).
func masked() []string { return []string{".codex", ".agents", ".aws", ".git"} }

// occupant is the file that is put into them.
const occupant = ".gitignore"

// Occupy sees to it that a directory that commands write has the masked folders with something in
// them. In its sandbox codex shows commands an existing one as it is, to be read, and over one that
// is not there it mounts an empty folder, which it makes and removes by its path, outside of the
// sandbox. With it goes the mount in every other command's sandbox. Two things come of that:
// commands can lead the path to the work directory from a folder below it, and then write settings
// to .codex that codex takes for the folder's; and a patch fails while the last of the commands
// beside it ends, because codex keeps the count of those who need the folder in the temp directory,
// where commands have another than patches. Then its sender is asked to allow it without the sandbox.
// A folder with something in it stays.
//
// That goes for a .git below a repository, too, or commands could make one of their own, by which the
// user's git would run what they have written: git passes over one that is no repository, and codex
// is told how to know the one above ([Launch.markers]). A folder in which nothing can be made stays
// as it is.
func Occupy(dir string, user *asuser.User) error {
	return user.Do(func() error {
		root, err := regular.Root(dir)
		if err != nil {
			return err
		}
		defer root.Close()
		for _, name := range masked() {
			err = errors.Join(err, occupy(root, name))
		}
		return err
	})
}

// occupy puts something into a folder that is missing or empty.
func occupy(root *os.Root, name string) error {
	if _, err := root.Lstat(filepath.Join(name, occupant)); err == nil { // as before each turn but the first
		return nil
	}
	err := root.Mkdir(name, 0o755)
	if isClosed(err) { // commands cannot make one either
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if info, err := root.Lstat(name); err != nil || !info.IsDir() {
		return nil // a file or a link is no place for an empty folder; of .codex, settled says it
	}
	// A command without a sandbox may put anything there, a pipe too, at which we would wait
	// for good.
	at, err := root.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer at.Close()
	if names, err := at.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) || len(names) > 0 {
		return nil
	}
	file, err := root.OpenFile(filepath.Join(name, occupant), os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o644)
	if errors.Is(err, fs.ErrExist) || isClosed(err) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString("# So that codex's sandbox finds a folder here, and shows it to commands to be read.\n*\n")
	return errors.Join(err, file.Close())
}

// isClosed reports whether a folder lets nothing be made in it.
func isClosed(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}
