package codex_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// handsOn is a model that hands its work to a subagent, which does the one thing.
func handsOn(do func(*fakemodel.Turn)) fakemodel.Script {
	spawn, _ := json.Marshal(map[string]any{"task_name": "sub", "message": "do it"})
	return func(t *fakemodel.Turn) {
		outputs := t.NewToolOutputs()
		switch sub := t.FromSubagent(); {
		case sub && len(outputs) == 0:
			do(t)
		case sub:
			t.Say("sub is done")
		case len(outputs) == 0:
			t.CallIn("collaboration", "spawn_agent", string(spawn))
		case len(outputs) == 1:
			t.CallIn("collaboration", "wait_agent", `{"timeout_ms":30000}`)
		}
	}
}

// TestChangeOfASubagent is shown to those who allow it, and is not done where its folder leads
// elsewhere by then.
func TestChangeOfASubagent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer        string
		moves, writes bool
	}{"yes": {"yes", false, true}, "no": {"no", false, false}, "yes to what has moved": {"yes", true, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var file string
			model := modeltest.Start(t, handsOn(func(t *fakemodel.Turn) { t.ApplyPatch(fakemodel.AddFile(file, "what it writes\n")) }))
			cfg, y := inYard(t, model, agent.OnRequest, "plain")
			folder := filepath.Join(codextest.Dir(t, "elsewhere"), "folder")
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			file = filepath.Join(folder, "file.txt")
			e := running(t, cfg)
			w := submit(t, e, "j1", "one", "go")
			q := w.asked(t, 1)
			if !strings.Contains(q.Text, "add "+file+"\n") || !strings.Contains(fmt.Sprint(q.Data["changes"]), "what it writes") {
				t.Errorf("asked %+v", q)
			}
			if c.moves {
				if err := errors.Join(os.Rename(folder, folder+"-kept"), os.Symlink(y.outside, folder)); err != nil {
					t.Fatal(err)
				}
			}
			mustReply(t, e, "j1", q, c.answer)
			wantEnd(t, w.wait(t), agent.Completed, "")
			if _, err := os.Stat(file); (err == nil) != c.writes {
				t.Errorf("the file: %v", err)
			}
			if told := fmt.Sprint(seen[agent.Answered](w)); strings.Contains(told, "leads elsewhere") != c.moves {
				t.Errorf("told %s", told)
			}
		})
	}
}
