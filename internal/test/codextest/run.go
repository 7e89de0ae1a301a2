package codextest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// A run has a folder for the directories of one process, while there are any. Its lock
// ends with the process: what a killed one has left is removed by the next.
type run struct {
	mu   sync.Mutex // guards the fields below
	used int        // directories in the folder
	dir  string
	lock *os.File
}

// thisRun is that of this process.
var thisRun run

// enter returns the folder, to be left again.
func (r *run) enter() (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used == 0 {
		if err := r.openLocked(); err != nil {
			return "", err
		}
	}
	r.used++
	return r.dir, nil
}

func (r *run) leave() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.used--; r.used > 0 {
		return nil
	}
	return errors.Join(os.Remove(r.dir), r.lock.Close())
}

func (r *run) openLocked() error {
	parent, err := Scratch()
	if err != nil {
		return err
	}
	// Programs that run as other users get at folders of theirs in it.
	if err := errors.Join(os.MkdirAll(parent, 0o711), os.Chmod(parent, 0o711)); err != nil {
		return err
	}
	all, err := locked(parent, syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer all.Close() // no folder is without its lock for others
	sweep(parent)
	if r.dir, err = os.MkdirTemp(parent, "run-"); err != nil {
		return err
	}
	if err := os.Chmod(r.dir, 0o711); err != nil {
		return err
	}
	r.lock, err = locked(r.dir, syscall.LOCK_EX)
	return err
}

// sweep removes the folders in parent whose process has ended. What cannot be removed stays.
func sweep(parent string) {
	left, _ := filepath.Glob(filepath.Join(parent, "run-*"))
	for _, dir := range left {
		if lock, err := locked(dir, syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			_ = os.RemoveAll(dir)
			_ = lock.Close()
		}
	}
}

// locked opens and locks a folder.
func locked(dir string, how int) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), how); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
