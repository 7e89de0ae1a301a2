package codex_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestHeldUpCodexIsReplaced has a command hold the lock that codex takes for each new
// conversation: that of another caller begins all the same.
func TestHeldUpCodexIsReplaced(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	cfg, _ := inYard(t, modeltest.Start(t, fakemodel.Keywords), agent.OnRequest, "plain")
	home := ""
	for _, kv := range cfg.Child.Env {
		if value, ok := strings.CutPrefix(kv, "CODEX_HOME="); ok {
			home = value
		}
	}
	lock := filepath.Join(home, "thread-writer-locks", ".coordination.lock")
	e := running(t, cfg)
	wantEnd(t, submit(t, e, "j1", "one", "background exec 9<"+lock+"; flock 9; echo holds; sleep 600").wait(t), agent.Completed, "")
	wantEnd(t, submit(t, e, "j2", "two", "run echo after").wait(t), agent.Completed, "")
}
