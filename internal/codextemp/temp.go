// Package codextemp has the directories in which codex and its commands keep what is temporary: made anew at
// each start, held under a lock so that nothing tidies them away, and removed at the end.
package codextemp

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/remove"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// A Temp has the temp directories of codex and of its commands in it. It is theirs alone:
// the one of all users is not writable in codex's sandbox, since a command could there change
// what others keep in it. It lies in the temp directory all the same, and goes with it.
type Temp struct {
	path string
	user *asuser.User
	log  *slog.Logger

	sockets  socketsFolder
	sweeps   sync.WaitGroup
	unmasked sync.Once // says that what codex keeps from commands cannot be made

	mu      sync.Mutex // guards the fields below
	lock    *os.File   // held as long as it is in use
	pointer *os.File   // see [adapter.Temp.KeepRegister]
}

// Open makes it anew. What the commands of an earlier life have left is moved aside
// and removed meanwhile: commands must not decide whether we start, nor when.
func Open(s settings.Settings, log *slog.Logger) (*Temp, error) {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(s.StateDir))
	name := fmt.Sprintf("molecule-codex-%d-%08x", os.Getuid(), sum.Sum32())
	t := &Temp{user: s.User, log: log}
	t.sockets.path, t.sockets.user = Sockets(s.User), s.User
	err := t.open(s.TempDir, name)
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) { // what takes the room is what was left, mostly
		t.makeRoom(s.TempDir, name)
		err = t.open(s.TempDir, name)
	}
	if err == nil {
		t.sockets.take()
		t.sweep(s.TempDir, name)
	}
	return t, err
}

// open makes the directory by its name, or by another one where that is another user's, or in use.
func (t *Temp) open(dir, name string) error {
	t.path = filepath.Join(dir, name)
	return t.user.Do(func() error {
		err := t.take()
		if err == nil {
			err = t.aside()
		}
		if err == nil {
			return t.fill()
		}
		path, failed := os.MkdirTemp(dir, name+"-")
		if failed != nil {
			return fmt.Errorf("TMPDIR: %w (set TMPDIR to a directory that can be written)", failed)
		}
		if err != nil {
			t.log.Warn("codex's temp directory has another name, since its own cannot be used", "path", path, "err", err)
		}
		t.path = path
		return errors.Join(t.take(), t.fill())
	})
}

// makeRoom removes what there is of it, and what earlier lives have left, before another is made.
func (t *Temp) makeRoom(dir, name string) {
	if t.lock != nil {
		_ = t.user.Do(func() error { return remove.All(t.path) })
		_ = t.lock.Close()
		t.lock = nil
	}
	if t.pointer != nil { // it takes room as long as it is open
		_ = t.pointer.Close()
		t.pointer = nil
	}
	t.sweep(dir, name)
	t.sweeps.Wait()
}

// Path is the directory that all of it lies in.
func (t *Temp) Path() string { return t.path }

// Dirs are those in it. The names are short, for sockets are kept there.
func (t *Temp) Dirs() adapter.Temp {
	return adapter.Temp{Commands: filepath.Join(t.path, "in"), Codex: filepath.Join(t.path, "out"), Guard: filepath.Join(t.path, "guard")}
}

// fill makes them if need be, and gives them back to their owner. It runs as that.
func (t *Temp) fill() error {
	dirs := t.Dirs()
	for _, dir := range append(dirs.Roots(), dirs.Codex) {
		if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
			return err
		}
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return errors.Join(err, fmt.Errorf("%s is no directory: remove it", dir))
		}
		t.user.Regain(dir, t.log)
	}
	pointer, err := dirs.KeepRegister(t.user.Number())
	if err == nil {
		t.hold(pointer)
	}
	for _, dir := range dirs.Roots() {
		err = errors.Join(err, adapter.Occupy(dir, nil))
	}
	if err != nil { // it works without
		t.unmasked.Do(func() {
			t.log.Warn("what codex keeps from commands, such as .codex, cannot be made in their temp directory: a patch may be refused while a command ends, or keep commands from starting", "path", t.path, "err", err)
		})
	}
	return nil
}

// hold keeps a file open in the place of the one before, if it is another.
func (t *Temp) hold(pointer *os.File) {
	now, errNow := pointer.Stat()
	if t.pointer != nil {
		if before, err := t.pointer.Stat(); errNow == nil && err == nil && os.SameFile(before, now) {
			_ = pointer.Close()
			return
		}
		_ = t.pointer.Close()
	}
	t.pointer = pointer
}

// left is put behind the name of a directory that is to be removed, of which so many are at
// each start.
const (
	left     = ".left-"
	mostLeft = 1000
)

// aside puts an empty directory in the place of what an earlier life has left.
func (t *Temp) aside() error {
	if names, err := regular.Names(t.path, 1, regular.All); err == nil && len(names) == 0 {
		return nil
	}
	if err := os.Rename(t.path, fmt.Sprintf("%s%s%d", t.path, left, time.Now().UnixNano())); err != nil {
		return err
	}
	return t.take()
}

// sweep begins to remove what was put aside, by this life or by one before it, and what one has had by
// another name.
func (t *Temp) sweep(dir, own string) {
	names, _ := regular.Names(dir, mostLeft, func(name string) bool {
		return strings.HasPrefix(name, own+left) || strings.HasPrefix(name, own+"-")
	})
	names = slices.DeleteFunc(names, func(name string) bool { // a link leads anywhere, and another user's is another user's
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		return err != nil || !info.IsDir() || !isOf(t.user, info) || !strings.HasPrefix(name, own+left) && t.inUse(path)
	})
	t.sweeps.Go(func() {
		for _, name := range names {
			path := filepath.Join(dir, name)
			if err := t.user.Do(func() error { return patiently(func() error { return remove.All(path) }) }); err != nil {
				t.log.Warn("what commands of an earlier life have left in their temp directory stays: remove it by hand", "path", path, "err", err)
			}
		}
	})
}

// take makes the directory if need be, and locks it, which also keeps what tidies the temp
// directory from removing it. It fails where the name is not this user's, or in use.
func (t *Temp) take() error {
	if err := os.Mkdir(t.path, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	if info, err := os.Lstat(t.path); err != nil || !info.IsDir() { // another user's link leads anywhere
		return errors.Join(err, fmt.Errorf("%s is no directory: remove it", t.path))
	}
	t.user.Regain(t.path, t.log)
	dir, err := os.OpenFile(t.path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	err = owned(t.user, dir)
	if err == nil {
		err = errors.Join(dir.Chmod(0o700), unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB))
	}
	if err != nil {
		_ = dir.Close()
		return err
	}
	if t.lock != nil {
		_ = t.lock.Close()
	}
	t.lock = dir
	return nil
}

// inUse reports whether a directory is locked, or that cannot be known.
func (t *Temp) inUse(path string) bool {
	return t.user.Do(func() error {
		dir, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if err != nil {
			return err
		}
		defer dir.Close()
		return unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}) != nil
}

// owned fails if a directory is not the user's.
func owned(user *asuser.User, dir *os.File) error {
	info, err := dir.Stat()
	if err == nil && !isOf(user, info) {
		err = fmt.Errorf("%s belongs to another user", info.Name())
	}
	return err
}

func isOf(user *asuser.User, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == user.Number()
}

// dying is how long what an earlier life has started may go on writing: the helpers of
// codex's sandbox end a moment after codex was killed.
const dying = 5 * time.Second

// patiently removes a directory that may still be written to for a moment.
func patiently(try func() error) error {
	for began := time.Now(); ; <-time.After(20 * time.Millisecond) {
		err := try()
		if !errors.Is(err, syscall.ENOTEMPTY) || time.Since(began) > dying {
			return err
		}
	}
}

// Keep makes the directories again if they were removed, and gives them back to their owner.
func (t *Temp) Keep() error {
	t.sockets.take()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.user.Do(func() error {
		if info, err := os.Lstat(t.path); err != nil || !info.IsDir() {
			if err := t.take(); err != nil {
				return err
			}
		}
		t.user.Regain(t.path, t.log)
		return t.fill()
	})
}

// Close removes the directory, but does not wait for long.
func (t *Temp) Close() error {
	t.sockets.Close()
	t.sweeps.Go(func() {
		if err := t.user.Do(func() error { return patiently(func() error { return remove.All(t.path) }) }); err != nil {
			t.log.Warn("codex's temp directory stays", "path", t.path, "err", err)
		}
	})
	done := make(chan struct{})
	go func() {
		t.sweeps.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(dying):
		t.log.Warn("codex's temp directory is not removed yet", "path", t.path)
		return nil // the lock ends with the process, and so with the removal
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pointer != nil {
		_ = t.pointer.Close()
	}
	return t.lock.Close()
}
