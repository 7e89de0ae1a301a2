package e2e

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestAgentsFillTheirShare: of what codex keeps of conversations other agents have a part. Beyond
// it theirs go, the oldest first, and the user's stay.
func TestAgentsFillTheirShare(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	m := join(t, fakeplatform.AUG, "RUNTIME_CONVERSATIONS_MIB=1")
	m.online()
	files := func() (all []string) {
		all, err := filepath.Glob(filepath.Join(m.Home, "sessions", "*", "*", "*", "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	m.user("u1", "remember LIME-3")
	for _, name := range []string{"Bob", "Eve"} {
		peer := m.platform.Add(fakeplatform.Workspace{Name: name, Reply: strings.ToUpper})
		m.peerSends(peer, "of-"+name, "c", "say hello "+strings.Repeat("x", 100<<10))
	}
	if n := len(files()); n != 3 {
		t.Fatalf("there are %d conversations: %v", n, files())
	}
	m.again() // it looks each minute, and at the start
	progtest.WaitFor(t, "other agents' conversations to go", func() bool { return len(files()) == 1 })
	if got := m.user("u2", "recall"); !strings.Contains(got, "LIME-3") {
		t.Errorf("the user's conversation says %q", got)
	}
}
