package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestSwapBetweenCheckAndOpen: what was checked had no symlinks in its path, so one that
// is there now was put there since, and is not followed wherever it leads.
func TestSwapBetweenCheckAndOpen(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secrets.d", "KEY")
	if err := errors.Join(
		os.MkdirAll(filepath.Join(dir, "out", "deep"), 0o755), os.Mkdir(filepath.Dir(secret), 0o755),
		os.WriteFile(secret, []byte("secret"), 0o600), os.WriteFile(filepath.Join(dir, "out", "deep", "KEY"), []byte("text"), 0o600),
		os.Symlink("secrets.d", filepath.Join(dir, "folder")), os.Symlink("secrets.d/KEY", filepath.Join(dir, "file")),
		os.Symlink("../../secrets.d/KEY", filepath.Join(dir, "out", "deep", "link")),
	); err != nil {
		t.Fatal(err)
	}
	for rel, ok := range map[string]bool{
		"out/deep/KEY": true, "folder/KEY": false, "file": false, "out/deep/link": false, "out": false, "none/KEY": false,
	} {
		file, _, err := openIn(dir, rel)
		if err == nil {
			_ = file.Close()
		}
		if (err == nil) != ok || !ok && !errors.Is(err, ErrNotHere) {
			t.Errorf("%s: %v", rel, err)
		}
	}
}
