package regular

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	file, pipe, link := filepath.Join(dir, "file"), filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("text"), 0o600), syscall.Mkfifo(pipe, 0o600), os.Symlink("/dev/zero", link)); err != nil {
		t.Fatal(err)
	}
	if text, err := Read(file, 3); string(text) != "tex" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	for _, path := range []string{pipe, link, dir} {
		if text, err := Read(path, 3); !errors.Is(err, errNotOne) {
			t.Errorf("%s: %q %v", path, text, err)
		}
	}
	if _, err := Read(filepath.Join(dir, "none"), 3); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
