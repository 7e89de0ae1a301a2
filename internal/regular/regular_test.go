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

func TestBelow(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	file, outside := filepath.Join(dir, "file"), filepath.Join(t.TempDir(), "secret")
	if err := errors.Join(os.WriteFile(file, []byte("text"), 0o600), os.WriteFile(outside, []byte("text"), 0o600),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600), os.Mkdir(filepath.Join(dir, "folder"), 0o700), os.Symlink(outside, filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadIn(root, "file", 3); string(text) != "tex" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	for _, name := range []string{"pipe", "folder"} {
		if text, err := ReadIn(root, name, 3); !errors.Is(err, errNotOne) {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}
	if text, err := ReadIn(root, "link", 3); err == nil {
		t.Errorf("a link led out, to %q", text)
	}
	f, info, err := OpenIn(root, "file")
	if err != nil || info.Size() != 4 {
		t.Fatalf("%v %v", info, err)
	}
	_ = f.Close()
}
