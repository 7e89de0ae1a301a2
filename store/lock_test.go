package store

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

// outlived returns a state directory with a lock whose holder has ended, while a child
// of that has it still. The child ends with end.
func outlived(t *testing.T) (dir string, end func()) {
	t.Helper()
	dir = t.TempDir()
	holding := exec.Command("true")
	must(t, holding.Run())
	host, err := os.Hostname()
	must(t, err)
	text, err := json.Marshal(holder{Host: host, PID: holding.Process.Pid, Since: time.Now()})
	must(t, err)
	path := filepath.Join(dir, "state.lock")
	must(t, os.WriteFile(path, text, 0o600))
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	defer file.Close()
	must(t, unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB))
	child := exec.Command("sleep", "600")
	child.ExtraFiles = []*os.File{file}
	must(t, child.Start())
	end = func() {
		if child.ProcessState == nil {
			_ = child.Process.Kill()
			_ = child.Wait()
		}
	}
	t.Cleanup(end)
	return dir, end
}

// TestLockOutlivesItsHolder: the process was killed while it started a child, which has
// the lock for a moment longer.
func TestLockOutlivesItsHolder(t *testing.T) {
	dir, end := outlived(t)
	synctest.Test(t, func(t *testing.T) {
		go func() {
			time.Sleep(time.Second)
			end()
		}()
		l, err := acquire(t.Context(), dir, time.Now(), holder{})
		must(t, err)
		l.release()
	})
}

// TestLockIsNotWaitedFor beyond a while, by who is told to end, or where its holder lives.
func TestLockIsNotWaitedFor(t *testing.T) {
	dir, _ := outlived(t)
	synctest.Test(t, func(t *testing.T) {
		for most, within := range map[time.Duration]time.Duration{lastsAtMost + time.Second: time.Hour, time.Second: time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), within)
			began := time.Now()
			_, err := acquire(ctx, dir, began, holder{})
			cancel()
			lockedBy(t, err)
			if took := time.Since(began); took > most {
				t.Errorf("it waited for %v", took)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) {
		used := t.TempDir()
		l, err := acquire(t.Context(), used, time.Now(), holder{})
		must(t, err)
		defer l.release()
		began := time.Now()
		_, err = acquire(t.Context(), used, began, holder{})
		equal(t, lockedBy(t, err).PID, os.Getpid())
		equal(t, time.Since(began), 0)
	})
}
