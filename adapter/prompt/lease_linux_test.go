package prompt_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/prompt"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leasetest"
)

// TestHeldFile: a command of our own user may keep a file of the prompt from being read. What
// stood in it goes on to hold.
func TestHeldFile(t *testing.T) {
	dir := put(t, t.TempDir(), map[string]string{"system-prompt.md": "PROMPT", "MEMORY.md": "MEMORY"})
	b := prompt.New(prompt.Config{Dir: dir})
	letGo := leasetest.Hold(t, filepath.Join(dir, "system-prompt.md"))
	put(t, dir, map[string]string{"MEMORY.md": "OTHER"})
	b.Refresh(t.Context())
	if text := b.Text(); !strings.Contains(text, "PROMPT") || !strings.Contains(text, "MEMORY") {
		t.Errorf("while it is held: %q", text)
	}
	letGo()
	b.Refresh(t.Context())
	if text := b.Text(); !strings.Contains(text, "PROMPT") || !strings.Contains(text, "OTHER") {
		t.Errorf("afterwards: %q", text)
	}
}
