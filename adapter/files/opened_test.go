package files_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
)

// TestOtherNamesOfSecrets: a hard link makes a hidden file one of another name. Files that
// have several names and are none of those are handed out.
func TestOtherNamesOfSecrets(t *testing.T) {
	configs, state, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	token := put(t, filepath.Join(elsewhere, "platform-token"), "secret")
	f, work := folder(t, func(c *files.Config) {
		c.Readable, c.Hidden = []string{configs}, []string{state, token, filepath.Join(elsewhere, "none")}
	})
	for name, secret := range map[string]string{
		"state": put(t, filepath.Join(state, "deep/er/x"), "secret"), "token": token, "auth": put(t, filepath.Join(configs, ".auth_token"), "secret"),
		"in secrets": put(t, filepath.Join(configs, "secrets.d/KEY"), "secret"), "own": put(t, filepath.Join(work, "auth.json"), "secret"),
	} {
		for _, path := range []string{filepath.Join(work, name), filepath.Join(configs, name+".txt")} {
			if err := os.Link(secret, path); err != nil {
				t.Skip(err)
			}
			if file, _, err := f.Open(path); !errors.Is(err, files.ErrForbidden) || file != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	linked := put(t, filepath.Join(work, "a.txt"), "text")
	if err := os.Link(linked, filepath.Join(work, "b.txt")); err != nil {
		t.Fatal(err)
	}
	file, _, err := f.Open(filepath.Join(work, "b.txt"))
	if err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
}

// TestRootThatIsSwapped leads to a hidden folder between the check of a path and the
// opening of its file.
func TestRootThatIsSwapped(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("the system does not tell where an open file stands")
	}
	secrets := t.TempDir()
	f, work := folder(t, func(c *files.Config) { c.Hidden = []string{secrets} })
	put(t, filepath.Join(work, "x"), "text")
	away := work + ".away"
	put(t, filepath.Join(secrets, "x"), "secret")
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		var err error
		for err == nil {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			err = errors.Join(os.Rename(work, away), os.Symlink(secrets, work), os.Remove(work), os.Rename(away, work))
		}
		<-stop
		stopped <- fmt.Errorf("swap: %w", err)
	}()
	good := 0
	for range 5000 {
		file, _, err := f.Open(filepath.Join(work, "x"))
		if err != nil {
			continue
		}
		text, err := io.ReadAll(file)
		_ = file.Close()
		switch {
		case err != nil:
			t.Error(err)
		case string(text) == "secret":
			t.Error("a hidden file was handed out")
		default:
			good++
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if good == 0 {
		t.Error("nothing was opened")
	}
}
