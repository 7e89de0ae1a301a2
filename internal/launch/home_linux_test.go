package launch

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// TestHomeInAnothersFolder: codex's user, who owns the folder that its home is to be made in,
// puts another one in its place again and again, where a link of the home's name leads to a
// file of root's. That file stays root's.
func TestHomeInAnothersFolder(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	other, err := asuser.Lookup("4242:4242")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, folder, decoy := filepath.Join(dir, "file"), filepath.Join(dir, "folder"), filepath.Join(dir, "decoy")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(file, nil, 0o600))
	must(os.Mkdir(folder, 0o500)) // in it only root can make something
	must(os.Mkdir(decoy, 0o500))
	must(os.Symlink(file, filepath.Join(decoy, "home")))
	for _, path := range []string{dir, folder, decoy} {
		must(os.Chown(path, int(other.UID), int(other.GID)))
	}
	var swapping sync.WaitGroup
	over := make(chan struct{})
	swapping.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, folder, unix.AT_FDCWD, decoy, unix.RENAME_EXCHANGE)
			}
		}
	})
	home := filepath.Join(folder, "home")
	for range 500 {
		if makeHome(home, other) == nil {
			t.Error("a home was made")
			break
		}
	}
	close(over)
	swapping.Wait()
	info, err := os.Stat(file)
	must(err)
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != 0 {
		t.Errorf("the file of root's is user %d's", owner)
	}
}
