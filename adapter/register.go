package adapter

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// register is the name of the folder, in the TMPDIR of the process that starts codex's sandbox, in
// which that counts what needs the folders it mounts; user is codex's (seen on 0.169.0). A sandbox that finds no file
// "lock" in it, and cannot make one, does not start.
func register(user uint32) string {
	return fmt.Sprintf("codex-bwrap-synthetic-mount-targets-%d", user)
}

// lockOf is the file in a register without which no sandbox starts.
const lockOf = "lock"

// KeepRegister keeps the register of commands from patches. codex shows it to commands to be read,
// and keeps from patches the one of its own TMPDIR: that of commands would be a folder like any
// other to them. But it keeps from all of them what the file .git of a writable root says that its
// repository is in, wherever that lies. So there is a root, [Temp.Guard], whose .git names the
// register. It is not the temp directory itself, since git fails below a .git that names no
// repository, and not only where it looks for one.
//
// What stands in the place of the register or its lock all the same is put aside: a command that was
// let out of the sandbox can have put it there.
//
// The file that is returned is that .git, for as long as it is open: no command can then have it not
// be read for a while (by a lease, fcntl), by which codex's own threads would wait.
func (t Temp) KeepRegister(user uint32) (pointer *os.File, err error) {
	root, err := regular.Root(t.Commands)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := register(user)
	if err := errors.Join(aside(root, name, fs.FileMode.IsDir), aside(root, filepath.Join(name, lockOf), fs.FileMode.IsRegular)); err != nil {
		return nil, err
	}
	if err := root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return point(t.Guard, filepath.Join(t.Commands, name))
}

// aside renames what stands in a place and is of another kind.
func aside(root *os.Root, name string, fits func(fs.FileMode) bool) error {
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && fits(info.Mode()) {
		return nil
	}
	return errors.Join(err, root.Rename(name, fmt.Sprintf("no-register-%d", time.Now().UnixNano())))
}

// point opens the file .git of a directory, and makes it if there is none. One that is there stays:
// with the file would go its mount in the sandboxes.
func point(dir, to string) (*os.File, error) {
	root, err := regular.Root(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.OpenFile(".git", os.O_CREATE|os.O_EXCL|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return root.OpenFile(".git", os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		return nil, err
	}
	if _, err := file.WriteString("gitdir: " + to + "\n"); err != nil { // a full disk: the next time
		return nil, errors.Join(err, file.Close(), root.Remove(".git"))
	}
	return file, nil
}
