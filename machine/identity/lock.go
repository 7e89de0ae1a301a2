package identity

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
)

const (
	// lockTime is how long a lock may outlive its holder: a child that was being started when that was killed has a
	// copy of the descriptor until it runs its own program.
	lockTime  = 2 * time.Second
	lockAgain = 20 * time.Millisecond
)

// Lock keeps a second machine from a state directory, until release is called or the process ends.
func Lock(ctx context.Context, dir string) (release func(), err error) {
	path := filepath.Join(dir, "machine.lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	for {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) || !sleep.For(ctx, lockAgain) {
			break
		}
	}
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		err = fmt.Errorf("the state directory %s is in use by another runtime machine: stop that, or choose another directory (RUNTIME_STATE_DIR)", dir)
	case err != nil:
		err = fmt.Errorf("lock %s: %w", path, err)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() {
		_ = unix.Flock(int(file.Fd()), unix.LOCK_UN)
		_ = file.Close()
	}, nil
}
