package codex_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestNothingIsAskedOfCommands: where commands have the network and callers need no credential, what
// codex asks is declined, and its sender told what to do. Else it is asked.
func TestNothingIsAskedOfCommands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ network, open, asked bool }{
		"both": {true, true, false}, "network": {true, false, true}, "open": {false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(cfg *config) {
				asks()(cfg)
				if cfg.Open = c.open; c.network {
					asks("-c", "sandbox_workspace_write.network_access=true")(cfg)
				}
			})
			w := submit(t, e, "j1", "one", "escalate echo ran")
			if c.asked {
				mustReply(t, e, "j1", w.asked(t, 1), "yes")
			}
			end, told := w.wait(t), notices(w)
			if ran := said(end) == "ran"; end.Outcome != agent.Completed || ran != c.asked {
				t.Errorf("end = %+v, saying %q", end, said(end))
			}
			if asked := len(seen[agent.Question](w)) > 0; asked != c.asked || strings.Contains(told, "set RUNTIME_TOKEN") == c.asked {
				t.Errorf("asked: %v, told %q", asked, told)
			}
		})
	}
}

// TestAnswerOfACommandIsNotTaken: a question is open when commands of another conversation come to
// have the network.
func TestAnswerOfACommandIsNotTaken(t *testing.T) {
	t.Parallel()
	var home string
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) {
		asks()(c)
		c.Open = true
		home = codextest.Home(t)
		c.Child.Env = append(c.Child.Env, "CODEX_HOME="+home)
	})
	file := filepath.Join(home, "config.toml")
	before, _ := os.ReadFile(file)
	w := submit(t, e, "j1", "one", "escalate echo ran")
	q := w.asked(t, 1)
	if err := os.WriteFile(file, append(before, "\n[sandbox_workspace_write]\nnetwork_access = true\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	wantAlive(t, e, "two")
	mustReply(t, e, "j1", q, "yes")
	end := w.wait(t)
	told := seen[agent.Answered](w)
	if !strings.Contains(said(end), "rejected") || len(told) != 1 || !strings.Contains(told[0].Note, "set RUNTIME_TOKEN") {
		t.Errorf("the end says %q, told %+v", said(end), told)
	}
}

// notices are the words of those that a job was told.
func notices(w *witness) string {
	var all strings.Builder
	for _, notice := range seen[agent.Notice](w) {
		all.WriteString(notice.Text + "\n")
	}
	return all.String()
}
