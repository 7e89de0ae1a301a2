package toolset

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestLongIDsAreNotAwaited: they are as long as a platform writes them, and 256 are remembered.
func TestLongIDsAreNotAwaited(t *testing.T) {
	var s Set
	long := strings.Repeat("x", platform.MaxID+1)
	s.awaited.tell(long, "short")
	if _, told := s.Awaited(long); told {
		t.Error("a long one is remembered")
	}
	if _, told := s.Awaited("short"); !told {
		t.Error("a short one is not")
	}
}
