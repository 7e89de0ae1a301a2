package whole_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/whole"
)

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for _, c := range []struct {
		text string
		mode os.FileMode
	}{{"one", 0o600}, {"", 0o644}, {"three", 0o600}} {
		if err := whole.Write(path, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		info, statErr := os.Stat(path)
		if err != nil || statErr != nil || string(text) != c.text || info.Mode().Perm() != c.mode {
			t.Errorf("%q: %q, %v, %v, %v", c.text, text, info.Mode(), err, statErr)
		}
	}
	alone(t, path)
}

// TestWhatCannotBeWritten leaves the file as it was, and nothing beside it.
func TestWhatCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.MkdirAll(filepath.Join(path, "in-the-way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := whole.Write(path, []byte("x"), 0o600); err == nil {
		t.Error("a folder was replaced")
	}
	alone(t, path)
	if err := whole.Write(filepath.Join(path, "no", "folder"), nil, 0o600); err == nil {
		t.Error("written to where there is nothing")
	}
}

func TestLeftoversAreRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	for name, age := range map[string]time.Duration{".1.tmp": time.Hour, ".2.tmp": 0} {
		if err := os.WriteFile(path+name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path+name, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := whole.Write(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) != 1 || !strings.HasSuffix(left[0], ".2.tmp") {
		t.Errorf("beside the file stand %v, want only what may be written just now", left)
	}
}

// TestAtTheSameTime: whoever reads sees one text or another, whole.
func TestAtTheSameTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			text := strings.Repeat(string(rune('a'+i)), 1<<16)
			for range 20 {
				if err := whole.Write(path, []byte(text), 0o600); err != nil {
					t.Error(err)
				}
				got, err := os.ReadFile(path)
				if err != nil || len(got) != 1<<16 || strings.Count(string(got), string(got[:1])) != 1<<16 {
					t.Errorf("read %d bytes of several texts: %v", len(got), err)
				}
			}
		})
	}
	group.Wait()
	alone(t, path)
}

func alone(t *testing.T, path string) {
	t.Helper()
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("beside the file stand %v", left)
	}
}
