package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
)

// TestYesIsForWhatWasShown: a question that was shown goes without an answer, and the model
// has another one asked in its place.
func TestYesIsForWhatWasShown(t *testing.T) {
	t.Parallel()
	expires := func(turn *fakemodel.Turn, _ <-chan struct{}, command string) {
		switch len(turn.NewToolOutputs()) {
		case 0:
			turn.Call("exec_command", fakemodel.Escalated("git status"))
		case 1:
			turn.Call("exec_command", fakemodel.Escalated(command))
		default:
			turn.Say("end")
		}
	}
	interrupted := func(turn *fakemodel.Turn, shown <-chan struct{}, command string) {
		if strings.Contains(string(turn.Body), "newly spawned child agent") {
			turn.Call("exec_command", fakemodel.Escalated("git status"))
			return
		}
		switch len(turn.NewToolOutputs()) {
		case 0:
			turn.CallIn("collaboration", "spawn_agent", `{"task_name":"sub","message":"go"}`)
		case 1:
			select {
			case <-shown:
			case <-turn.Context().Done():
			}
			turn.CallIn("collaboration", "interrupt_agent", `{"target":"sub"}`)
		case 2:
			turn.Call("exec_command", fakemodel.Escalated(command))
		default:
			turn.Say("end")
		}
	}
	for name, c := range map[string]struct {
		play     func(turn *fakemodel.Turn, shown <-chan struct{}, command string)
		settings []string
	}{
		"expired": {expires, []string{"CODEX_QUESTION_TTL=10s"}}, "interrupted": {interrupted, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown, evil := make(chan struct{}), filepath.Join(t.TempDir(), "evil")
			model := modeltest.Start(t, func(turn *fakemodel.Turn) { c.play(turn, shown, "touch "+evil) })
			p := startOn(t, binary, model, c.settings...)
			task := p.send("m1", "one", "go") // returns with the first question, and no more is read of the task
			first := asked(t, task, 0, "git status")
			close(shown)
			progtest.WaitFor(t, "the other question", func() bool {
				status := fmt.Sprint(p.get(task["id"])["status"])
				return strings.Contains(status, evil) && !strings.Contains(status, "git status")
			})
			task = p.task(p.call("SendMessage", answer(task, "a1", "yes")))
			if data := asked(t, task, 0, "was not taken"); data["id"] == first["id"] || !strings.Contains(fmt.Sprint(data["command"]), evil) {
				t.Errorf("asked %v, before %v", data, first)
			}
			if _, err := os.Lstat(evil); err == nil {
				t.Error("the answer to one question was leave for another")
			}
			task = p.task(p.call("SendMessage", answer(task, "a2", "yes")))
			if _, err := os.Lstat(evil); err != nil || state(task) != "TASK_STATE_COMPLETED" {
				t.Errorf("the answer to what was shown was not taken: %v, %v", task["status"], err)
			}
		})
	}
}

// TestYesIsForWhatTheUserWasShown: what a turn of the workspace's own asks is posed to nobody, and
// where another agent's turn tells the user something, a yes may be to that.
func TestYesIsForWhatTheUserWasShown(t *testing.T) {
	t.Parallel()
	m := join(t, fakeplatform.AUG)
	m.online()
	bob := m.platform.Add(fakeplatform.Workspace{Name: "Bob", Reply: strings.ToUpper})
	for name, ask := range map[string]func(text string){
		"own": func(text string) {
			self := message("own", "canvas-"+m.handle.ID(), text)
			self["metadata"] = object{"source_type": "self-delegation-results"}
			asked(t, m.task(m.call("SendMessage", object{"message": self})), 0, "codex asks")
		},
		"beside": func(text string) {
			if said := m.user("beside", text); !strings.Contains(said, "codex asks") {
				t.Errorf("the user is asked %q", said)
			}
			m.peerSends(bob, "b1", "", `call send_message_to_user {"message":"Shall I? Say yes or no."}`)
		},
	} {
		evil := filepath.Join(codextest.Dir(t, "outside"), name)
		ask(wants(object{"cmd": "touch " + evil}))
		if said := m.user(name+"-yes", "yes"); !strings.Contains(said, "was not taken") || !strings.Contains(said, evil) {
			t.Errorf("%s: the user is answered %q", name, said)
		}
		if _, err := os.Lstat(evil); err == nil {
			t.Errorf("%s: a yes was leave for what was not shown", name)
		}
		m.user(name+"-yes-again", "yes")
		if _, err := os.Lstat(evil); err != nil {
			t.Errorf("%s: the answer to what was shown was not taken: %v", name, err)
		}
	}
}
