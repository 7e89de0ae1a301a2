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

// Occupy sees to it that the work directory has a .codex with something in it. In its sandbox
// codex shows commands an existing one as it is, to be read, and over one that is not there it
// mounts an empty folder. That it makes and removes by its path, outside of the sandbox, and
// with it goes the mount in every other command's sandbox: commands can lead the path to the
// work directory from a folder below it, and then write settings there that codex takes for
// the folder's (seen on 0.169.0). One with something in it stays.
func Occupy(dir string, user *asuser.User) error {
	return user.Do(func() error {
		root, err := regular.Root(dir)
		if err != nil {
			return err
		}
		defer root.Close()
		err = root.Mkdir(".codex", 0o755)
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) { // commands cannot make one either
			return nil
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if info, err := root.Lstat(".codex"); err != nil || !info.IsDir() {
			return nil // see settled
		}
		// A command without a sandbox may put anything there, a pipe too, at which we would wait
		// for good.
		at, err := root.OpenFile(".codex", os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
		if err != nil {
			return nil // see settled
		}
		defer at.Close()
		if names, err := at.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) || len(names) > 0 {
			return nil
		}
		file, err := root.OpenFile(filepath.Join(".codex", ".gitignore"), os.O_CREATE|os.O_EXCL|os.O_WRONLY|syscall.O_NOFOLLOW, 0o644)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = file.WriteString("# So that commands in codex's sandbox put no settings here.\n*\n")
		return errors.Join(err, file.Close())
	})
}
