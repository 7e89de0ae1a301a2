package main

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// A codexTemp is the temp directory of codex and its commands. It is theirs alone: the one
// of all users is not writable in codex's sandbox, since a command could there change what
// others keep in it. It lies in the temp directory all the same, and goes with it.
type codexTemp struct {
	path string
	user *asuser.User
	lock *os.File // held as long as it is in use
}

// openCodexTemp makes it anew: what the commands of an earlier life have left is removed.
func openCodexTemp(s settings.Settings) (*codexTemp, error) {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(s.StateDir))
	name := fmt.Sprintf("molecule-codex-%d-%08x", os.Getuid(), sum.Sum32())
	t := &codexTemp{path: filepath.Join(s.TempDir, name), user: s.User}
	return t, t.user.Do(func() error {
		if t.take() != nil { // the name is another user's, or in use
			path, err := os.MkdirTemp(s.TempDir, name+"-")
			if err != nil {
				return fmt.Errorf("TMPDIR: %w (set TMPDIR to a directory that can be written)", err)
			}
			t.path = path
			if err := t.take(); err != nil {
				return err
			}
		}
		return t.empty()
	})
}

// take makes the directory if need be, and locks it, which also keeps what tidies the temp
// directory from removing it. It fails where the name is not this user's, or in use.
func (t *codexTemp) take() error {
	if err := os.Mkdir(t.path, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	dir, err := os.OpenFile(t.path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(t.owned(dir), dir.Chmod(0o700), unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB)); err != nil {
		_ = dir.Close()
		return err
	}
	if t.lock != nil {
		_ = t.lock.Close()
	}
	t.lock = dir
	return nil
}

func (t *codexTemp) owned(dir *os.File) error {
	info, err := dir.Stat()
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != t.owner() {
		return fmt.Errorf("%s belongs to another user", dir.Name())
	}
	return nil
}

func (t *codexTemp) owner() uint32 {
	if t.user != nil {
		return t.user.UID
	}
	return uint32(os.Getuid())
}

func (t *codexTemp) empty() error {
	entries, err := os.ReadDir(t.path)
	for _, entry := range entries {
		err = errors.Join(err, patiently(func() error { return os.RemoveAll(filepath.Join(t.path, entry.Name())) }))
	}
	if err != nil {
		return fmt.Errorf("TMPDIR: what commands of an earlier life have left stays: %w", err)
	}
	return nil
}

// dying is how long what an earlier life has started may go on writing: the helpers of
// codex's sandbox end a moment after codex was killed.
const dying = 5 * time.Second

// patiently removes a directory that may still be written to for a moment.
func patiently(remove func() error) error {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		err := remove()
		if !errors.Is(err, syscall.ENOTEMPTY) || time.Since(began) > dying {
			return err
		}
	}
}

// keep makes the directory again if it was removed, for a codex that is about to start.
func (t *codexTemp) keep() error {
	return t.user.Do(func() error {
		if _, err := os.Lstat(t.path); err == nil {
			return nil
		}
		return t.take()
	})
}

// Close removes the directory.
func (t *codexTemp) Close() error {
	return errors.Join(t.user.Do(func() error { return os.RemoveAll(t.path) }), t.lock.Close())
}
