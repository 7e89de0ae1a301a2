package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// wants is a message by which the model wants to run something outside the sandbox.
func wants(call object) string {
	with := object{"sandbox_permissions": "require_escalated", "justification": "may I?", "yield_time_ms": 20_000}
	maps.Copy(with, call)
	text, _ := json.Marshal(with)
	return "call exec_command " + string(text)
}

// TestQuestionShowsWhatRuns: a command or a change that looks like a secret is shown all the
// same, for it is what is run; a secret that is known is not, and the question says so.
func TestQuestionShowsWhatRuns(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	const known = "a-token-that-the-runtime-knows"
	p := start(t, "GH_TOKEN="+known)
	script := filepath.Join(codextest.Dir(t, "scripts"), "check1")
	for name, c := range map[string]struct {
		command, want string
		hidden        bool
	}{
		"bearer":   {"git log -1 # show who signed, bearer\n" + script, script, false},
		"key":      {"./sk-cleanup-all; ls", "./sk-cleanup-all; ls", false},
		"assigned": {"deploy --token=" + script + "/build/output/that/is/long/enough.sh", "--token=" + script + "/build/output/that/is/long/enough.sh", false},
		"known":    {"curl -H 'Authorization: bearer " + known + "' x", "'Authorization: bearer ***' x", true},
	} {
		task := p.send(name, name, wants(object{"cmd": c.command}))
		data := asked(t, task, 0, c.want)
		command, _ := data["command"].(string)
		if !strings.Contains(command, c.want) || (data["hidden"] == true) != c.hidden {
			t.Errorf("%s: the data is %v", name, data)
		}
		shown := fmt.Sprint(at(task, "status", "message", "parts"))
		if strings.Contains(shown, known) || strings.Contains(shown, "that the runtime knows is not shown") != c.hidden {
			t.Errorf("%s: shown is %s", name, shown)
		}
		p.call("SendMessage", answer(task, name+"-no", "no"))
	}

	file := filepath.Join(codextest.Dir(t, "outside"), "profile")
	p.Model.SetScript(func(t *fakemodel.Turn) {
		if len(t.NewToolOutputs()) > 0 {
			t.Say("done")
			return
		}
		t.ApplyPatch(fakemodel.AddFile(file, "# the API takes a bearer\n"+script+"\n# "+known+"\n"))
	})
	data := asked(t, p.send("patch", "patch", "go"), 0, "profile")
	if diff := fmt.Sprint(data["changes"]); !strings.Contains(diff, script) || strings.Contains(diff, known) || data["hidden"] != true {
		t.Errorf("the change is shown as %s", data)
	}
}

// TestQuestionShowsTheEnd of a long command: all of it, and of what no shell would be started
// with the beginning and the end, for once only.
func TestQuestionShowsTheEnd(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t)
	const end = "\nid > OUT2"
	task := p.send("m1", "long", wants(object{"cmd": "echo " + strings.Repeat("x", 100<<10) + end}))
	data := asked(t, task, 0, "id > OUT2")
	if command, _ := data["command"].(string); !strings.Contains(command, strings.Repeat("x", 100<<10)+end) || data["cut"] != nil {
		t.Errorf("%d bytes of the command are shown", len(command))
	}
	p.call("SendMessage", answer(task, "a1", "no"))

	task = p.send("m2", "longer", wants(object{"cmd": "echo " + strings.Repeat("x", 200<<10) + end}))
	data = asked(t, task, 0, "id > OUT2")
	if command, _ := data["command"].(string); !strings.Contains(command, "bytes of this are not shown") || !strings.Contains(command, end) || data["cut"] != true {
		t.Errorf("%d bytes of the command are shown", len(command))
	}
	if choices := fmt.Sprint(data["choices"]); strings.Contains(choices, "acceptForSession") {
		t.Errorf("the choices are %s", choices)
	}
	p.call("SendMessage", answer(task, "a2", "no"))

	task = p.send("m3", "longer", changeOf(fakemodel.AddFile(filepath.Join(codextest.Dir(t, "outside"), "file"), strings.Repeat("x\n", 100<<10))))
	if data := asked(t, task, 0, "codex asks whether it may change files"); strings.Contains(fmt.Sprint(data["choices"]), "acceptForSession") || data["cut"] != true {
		t.Errorf("the choices are %s", data["choices"])
	}
	for i, always := range []any{"always", object{"decision": "acceptForSession"}} {
		task = p.task(p.call("SendMessage", answer(task, fmt.Sprintf("always-%d", i), always)))
		asked(t, task, 0, "for this once only")
	}
	p.call("SendMessage", answer(task, "a3", "no"))
}

// changeOf has the model change files by a patch.
func changeOf(patch string) string {
	text, _ := json.Marshal("apply_patch <<'EOF'\n" + patch + "EOF")
	return `call exec_command {"cmd":` + string(text) + `}`
}

// TestFolderMovesBeforeTheAnswer: what was allowed in a folder is not done where a link leads
// that a command of another conversation has put in its place, nor is a file changed there.
func TestFolderMovesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	p := start(t)
	for name, ask := range map[string]func(folder string) string{
		"command": func(folder string) string { return wants(object{"cmd": "touch built", "workdir": folder}) },
		"change":  func(folder string) string { return changeOf(fakemodel.AddFile(filepath.Join(folder, "built"), "x\n")) },
	} {
		for moves, decision := range map[bool]any{true: object{"decision": "accept"}, false: "yes"} {
			kind := fmt.Sprintf("%s-%t", name, moves)
			work, outside := p.Work, codextest.Dir(t, "outside")
			if name == "change" { // codex asks for what lies outside of its roots
				work = codextest.Dir(t, "elsewhere")
			}
			folder := filepath.Join(work, kind)
			if err := os.Mkdir(folder, 0o700); err != nil {
				t.Fatal(err)
			}
			task := p.send(kind, kind, ask(folder))
			asked(t, task, 0, folder)
			if moves {
				if err := os.Rename(folder, folder+"-kept"); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(outside, folder); err != nil {
					t.Fatal(err)
				}
			}
			task = p.task(p.call("SendMessage", answer(task, kind+"-answer", decision)))
			told, _ := json.Marshal(task["history"])
			if said := strings.Contains(string(told), "leads elsewhere"); said != moves || state(task) != "TASK_STATE_COMPLETED" {
				t.Errorf("%s: the task is %v, told %s", kind, task["status"], told)
			}
			if _, err := os.Stat(filepath.Join(folder, "built")); (err == nil) == moves {
				t.Errorf("%s: what was asked for: %v", kind, err)
			}
		}
	}
}

// TestAlwaysGoesByNames: a file takes anything.
func TestAlwaysGoesByNames(t *testing.T) {
	t.Parallel()
	p := start(t)
	file := filepath.Join(codextest.Dir(t, "outside"), "file")
	task := p.send("m1", "one", changeOf(fakemodel.AddFile(file, "one\n")))
	asked(t, task, 0, "changes to these files, whatever they are")
	p.call("SendMessage", answer(task, "a1", "always"))
	if task := p.send("again", "one", changeOf("*** Begin Patch\n*** Update File: "+file+"\n@@\n-one\n+two\n*** End Patch\n")); state(task) != "TASK_STATE_COMPLETED" {
		t.Errorf("the task is %v", task["status"])
	}
	if content := contents(t, file); content != "two\n" {
		t.Errorf("the file is %q", content)
	}
}
