package attachments

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

func TestSendableFiles(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	put := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(work, "a/report.txt"), "report")
	put(filepath.Join(work, ".runtime/log"), "ours")
	put(filepath.Join(work, "secrets.d/KEY"), "secret")
	put(filepath.Join(work, ".auth_token"), "secret")
	put(filepath.Join(dir, "outside"), "secret")
	for link, to := range map[string]string{"out": "../outside", "token": ".auth_token", "in": "a/report.txt", "folder": ".."} {
		if err := os.Symlink(to, filepath.Join(work, link)); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(work, "keys/platform"), "secret")
	put(filepath.Join(work, "wire.log"), "prompts")
	put(filepath.Join(work, "wire.log.1"), "earlier prompts")
	f := SendableOf(settings.Settings{
		WorkDir: work, StateDir: filepath.Join(work, ".runtime"), CodexHome: filepath.Join(dir, "home"),
		TokenFile: filepath.Join(work, "keys/platform"), DebugWire: filepath.Join(work, "wire.log"),
	})
	for path, may := range map[string]bool{
		filepath.Join(work, "a/report.txt"): true, "a/report.txt": true, "in": true,
		"out": false, "token": false, "folder/outside": false, "../outside": false, filepath.Join(dir, "outside"): false,
		".auth_token": false, "secrets.d/KEY": false, ".runtime/log": false, "keys/platform": false, "wire.log": false, "wire.log.1": false, "a": false, "none": false, "/etc/passwd": false,
	} {
		file, err := f.Open(path)
		if (err == nil) != may {
			t.Errorf("%s: %v, want that it may be sent: %v", path, err, may)
		}
		if err != nil {
			continue
		}
		opened, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(opened)
		if string(text) != "report" || err != nil || file.Size != 6 || opened.Close() != nil {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
}
