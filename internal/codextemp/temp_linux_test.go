package codextemp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// smallDisk is a disk with room for so many files.
func smallDisk(t *testing.T, files int) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, fmt.Sprintf("size=1m,nr_inodes=%d", files))
	if errors.Is(err, syscall.EPERM) {
		t.Skip("only root can mount a disk: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// TestCodexTempThatIsFull: commands that take all the room of the temp directory's disk keep no
// runtime from starting that was killed, whether they took it there or elsewhere.
func TestCodexTempThatIsFull(t *testing.T) {
	for name, of := range map[string]func(dir string, temp *Temp) string{
		"in it":     func(_ string, temp *Temp) string { return temp.Dirs().Commands },
		"elsewhere": func(dir string, _ *Temp) string { return dir },
	} {
		t.Run(name, func(t *testing.T) {
			s := settings.Settings{TempDir: smallDisk(t, 60), StateDir: "/state"}
			first := openTemp(t, s)
			fill := func(at string) (err error) {
				for i := 0; err == nil; i++ {
					err = os.WriteFile(filepath.Join(at, fmt.Sprintf("file-%d", i)), nil, 0o600)
				}
				return err
			}
			if err := fill(of(s.TempDir, first)); !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			for range 2 {
				_, _ = first.lock.Close(), first.pointer.Close() // as a kill does
				again := openTemp(t, s)
				again.sweeps.Wait()
				if again.path != first.path {
					t.Errorf("%s after %s", again.path, first.path)
				}
				first = again
			}
			if left, err := filepath.Glob(filepath.Join(s.TempDir, "molecule-*")); err != nil || len(left) != 1 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// TestCodexTempByAnotherName: where another user has the name, what a killed runtime leaves is removed
// at the next start, and what is the other's stays as it is.
func TestCodexTempByAnotherName(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	s := settings.Settings{TempDir: t.TempDir(), StateDir: "/state"}
	first := openTemp(t, s)
	taken := first.path
	if err := errors.Join(first.Close(), os.Mkdir(taken, 0o755), os.Chmod(taken, 0o755), os.Chown(taken, 4243, 4243)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		temp := openTemp(t, s)
		temp.sweeps.Wait()
		if entries, err := os.ReadDir(s.TempDir); err != nil || len(entries) != 2 {
			t.Errorf("there are %v, %v", entries, err)
		}
		if info, err := os.Lstat(taken); err != nil || info.Mode().Perm() != 0o755 || isOf(nil, info) {
			t.Errorf("the other's is %v, %v", info, err)
		}
		_ = temp.lock.Close() // as a kill does
	}
}
