package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// A lock keeps other processes, and other stores of this one, away from a
// directory. The kernel drops it with the process, however that ends; what the
// file says is only for the error that the next one gets.
type lock struct {
	file *os.File
}

type holder struct {
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	What  string    `json:"what,omitempty"`
	Holds []string  `json:"holds,omitempty"`
}

// lastsAtMost is how long the lock may outlive its holder: a child that was being
// started when that was killed has a copy of the descriptor until it is gone, too.
const lastsAtMost = 5 * time.Second

// acquire takes the lock of dir, or returns a [*LockedError].
func acquire(ctx context.Context, dir string, now time.Time, who holder) (*lock, error) {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); ; {
		l, err := tryAcquire(dir, now, who)
		locked, ok := errors.AsType[*LockedError](err)
		if !ok || !locked.gone() || time.Since(began) >= lastsAtMost {
			return l, err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return nil, err
		}
	}
}

func tryAcquire(dir string, now time.Time, who holder) (*lock, error) {
	path := filepath.Join(dir, "state.lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fileError(path, err)
	}
	l := &lock{file: file}
	switch err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		refused := l.refusal(dir)
		_ = file.Close()
		return nil, refused
	case err != nil:
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: this file system cannot lock files, choose another directory: %w", path, err)
	}
	if err := l.sign(who, now); err != nil {
		l.release()
		return nil, fileError(path, err)
	}
	return l, nil
}

// sign writes down who has the lock: what is not known of that is added.
func (l *lock) sign(who holder, now time.Time) error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	who.Host, who.PID, who.Since = host, os.Getpid(), now
	text, err := json.Marshal(who)
	if err != nil {
		return err
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err = l.file.WriteAt(text, 0)
	return err
}

// refusal says who has the lock, as far as the file tells: its holder may be
// about to write it.
func (l *lock) refusal(dir string) error {
	refused := &LockedError{Dir: dir}
	var h holder
	if err := json.NewDecoder(l.file).Decode(&h); err == nil {
		refused.Host, refused.PID, refused.Since, refused.What, refused.Holds = h.Host, h.PID, h.Since, h.What, h.Holds
	}
	return refused
}

// gone reports whether the process that the file names has ended, as far as this
// machine can tell.
func (e *LockedError) gone() bool {
	host, err := os.Hostname()
	return err == nil && e.Host == host && errors.Is(unix.Kill(e.PID, 0), unix.ESRCH)
}

// release gives the lock back. It is undone explicitly, as a child that is just
// being started holds a copy of the descriptor until it runs its own program.
func (l *lock) release() {
	_ = unix.Flock(int(l.file.Fd()), unix.LOCK_UN)
	_ = l.file.Close()
}
