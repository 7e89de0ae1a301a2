package prompt_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/prompt"
)

// TestHeldFile: a command of our own user may keep a file of the prompt from being read. What
// stood in it goes on to hold.
func TestHeldFile(t *testing.T) {
	dir := put(t, t.TempDir(), map[string]string{"system-prompt.md": "PROMPT", "MEMORY.md": "MEMORY"})
	b := prompt.New(prompt.Config{Dir: dir})
	f, err := os.Open(filepath.Join(dir, "system-prompt.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("there are no leases here: %v", err)
	}
	put(t, dir, map[string]string{"MEMORY.md": "OTHER"})
	b.Refresh(t.Context())
	if text := b.Text(); !strings.Contains(text, "PROMPT") || !strings.Contains(text, "MEMORY") {
		t.Errorf("while it is held: %q", text)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	b.Refresh(t.Context())
	if text := b.Text(); !strings.Contains(text, "PROMPT") || !strings.Contains(text, "OTHER") {
		t.Errorf("afterwards: %q", text)
	}
}
