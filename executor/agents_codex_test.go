package executor_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// handsOn is a model that hands its work to a subagent, which does the one thing.
func handsOn(do func(*fakemodel.Turn)) fakemodel.Script {
	spawn, _ := json.Marshal(map[string]any{"task_name": "sub", "message": "do it"})
	return func(t *fakemodel.Turn) {
		outputs := t.NewToolOutputs()
		switch sub := strings.Contains(string(t.Body), "newly spawned child agent"); {
		case sub && len(outputs) <= 1: // it has inherited the output of its making
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

// TestChangeOfASubagent is not allowed by one to whom it was not shown.
func TestChangeOfASubagent(t *testing.T) {
	t.Parallel()
	var file string
	model := modeltest.Start(t, handsOn(func(t *fakemodel.Turn) { t.ApplyPatch(fakemodel.AddFile(file, "unseen\n")) }))
	cfg, y := inYard(t, model, appserver.OnRequest, "plain")
	file = filepath.Join(y.outside, "file.txt")
	w := submit(t, running(t, cfg), "j1", "one", "go")
	wantEnd(t, w.wait(t), executor.Completed, "")
	notices := seen[executor.Notice](w)
	if len(seen[executor.Asked](w)) > 0 || len(notices) != 1 || !strings.Contains(notices[0].Text, "change files, without saying which") {
		t.Errorf("asked %+v, told %+v", seen[executor.Asked](w), notices)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file: %v", err)
	}
}
