package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
)

// TestSandboxIsInForce has a command write outside the working directory: what the
// setting says is what codex does, whether its sandbox starts on this machine or not.
func TestSandboxIsInForce(t *testing.T) {
	t.Parallel()
	for mode, written := range map[string]bool{"danger-full-access": true, "workspace-write": false, "read-only": false} {
		t.Run(mode, func(t *testing.T) {
			p := start(t, "CODEX_SANDBOX="+mode, "CODEX_APPROVAL_POLICY=never")
			file := filepath.Join(codextest.Dir(t, "outside"), "file")
			p.send("m1", "c", "run touch "+file)
			if _, err := os.Stat(file); (err == nil) != written {
				t.Errorf("the file: %v, want it to be there: %t", err, written)
			}
		})
	}
}
