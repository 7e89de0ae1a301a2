package rollout

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// TestSearchIsBounded over all folders: the home may be filled by commands.
func TestSearchIsBounded(t *testing.T) {
	home := t.TempDir()
	for day := range 5 {
		if err := os.MkdirAll(filepath.Join(home, "2026/01", fmt.Sprintf("%02d", day), "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for left, want := range map[int]error{11: regular.ErrMany, 12: nil} { // a year, a month, five days, with one name in each
		s := search{left: left, found: func(string) {}}
		if err := s.in(home, daysDeep); !errors.Is(err, want) {
			t.Errorf("with %d names: %v", left, err)
		}
	}
}
