package codex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// inOpenYard is an executor in whose yard codex may ask to write more.
func inOpenYard(t *testing.T) (*rig, yard) {
	t.Helper()
	cfg, y := inYard(t, modeltest.Start(t, fakemodel.Keywords), agent.OnRequest, "plain")
	cfg.Child.Args = append(cfg.Child.Args, "-c", "features.request_permissions_tool=true", "-c", "features.exec_permission_approvals=true",
		"-c", "sandbox_workspace_write.exclude_slash_tmp=true", "-c", "suppress_unstable_features_warning=true")
	return running(t, cfg), y
}

func permission(paths ...string) string {
	return fmt.Sprintf("call request_permissions {\"reason\":\"build there\",\"permissions\":{\"file_system\":{\"write\":[\"%s\"]}}}", strings.Join(paths, `","`))
}

// allow says yes to all that a job asks, and returns what it was told without a question.
func allow(t *testing.T, e *rig, id, word, text string) (asked, told string) {
	t.Helper()
	w := submit(t, e, id, "one", text)
	n := 0
	eventually(t, "the end of "+id, func() bool {
		for _, q := range seen[agent.Question](w)[n:] {
			n++
			asked += q.Text
			mustReply(t, e, id, q, word)
		}
		return len(seen[agent.Ended](w)) > 0
	})
	for _, notice := range seen[agent.Notice](w) {
		told += notice.Text
	}
	return asked, told
}

// TestOpenedPathIsNotSwapped: leave to write a folder in the working directory would be leave to
// write anywhere, for codex looks the folder up again with each command. For one elsewhere it is
// given, and for no other that this has let commands replace.
func TestOpenedPathIsNotSwapped(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"yes", "always", "command"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			e, y := inOpenYard(t)
			sub, word := filepath.Join(y.work, "sub/in"), way
			command := fmt.Sprintf(`call exec_command {"cmd":"touch %[1]s/swapped","sandbox_permissions":"with_additional_permissions",`+
				`"justification":"build","additional_permissions":{"file_system":{"write":[%[1]q]}}}`, sub)
			swap := "\nrun mv sub kept; mkdir sub; ln -s " + y.outside + " sub/in; echo swapped"
			ask := "run mkdir sub/in\n" + permission(sub) + swap + "\nrun touch sub/in/swapped"
			if way == "command" {
				word = "always"
				ask = "run mkdir sub/in\n" + command + swap + "\n" + command
			}
			asked, told := allow(t, e, "j1", word, ask)
			if asked != "" || !strings.Contains(told, sub+" lies in "+y.work+", where commands can put something else in its place") {
				t.Errorf("asked %q, told %q", asked, told)
			}
			if _, err := os.Stat(filepath.Join(y.outside, "swapped")); err == nil {
				t.Error("commands have written outside")
			}
		})
	}
}

// TestOpenedPathElsewhere: a path that commands cannot replace is opened, alone, and counts for
// what is asked after it.
func TestOpenedPathElsewhere(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e, y := inOpenYard(t)
	other := codextest.Dir(t, "other")
	asked, told := allow(t, e, "j1", "always", permission(filepath.Join(y.work, "sub"), y.outside)+"\nrun touch "+y.outside+"/made")
	if told != "" || !strings.Contains(asked, "    write "+y.outside+"\n\nNot among them, whatever is answered: "+filepath.Join(y.work, "sub")+" lies in ") {
		t.Errorf("asked %q, told %q", asked, told)
	}
	if _, err := os.Stat(filepath.Join(y.outside, "made")); err != nil {
		t.Error(err)
	}
	for path, want := range map[string]string{
		filepath.Join(y.outside, "below"): "since that was allowed",
		filepath.Dir(y.outside):           "holds ",
	} {
		if asked, told = allow(t, e, path, "yes", permission(path)); asked != "" || !strings.Contains(told, want) {
			t.Errorf("%s: asked %q, told %q", path, asked, told)
		}
	}
	if asked, told = allow(t, e, "j3", "yes", permission(other)+"\nrun touch "+other+"/made"); asked == "" || told != "" {
		t.Errorf("asked %q, told %q", asked, told)
	}
	if _, err := os.Stat(filepath.Join(other, "made")); err != nil {
		t.Error(err)
	}
}
