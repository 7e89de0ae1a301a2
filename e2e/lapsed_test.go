package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
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
		if turn.FromSubagent() {
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
// where another agent's turn, or a subagent of it, tells the user something, a yes may be to that.
func TestYesIsForWhatTheUserWasShown(t *testing.T) {
	t.Parallel()
	for door, call := range doors {
		t.Run(door, func(t *testing.T) {
			t.Parallel()
			m := newMember(t, fakeplatform.AUG)
			model := modeltest.Start(t, tellingByAgents(door))
			m.program = startOn(t, binary, model, append(m.settings(), "RUNTIME_TOOLS="+door)...)
			m.online()
			m.answersWhatWasShown(m.platform.Add(fakeplatform.Workspace{Name: "Bob", Reply: strings.ToUpper}), call)
		})
	}
}

const tells = `send_message_to_user {"message":"Shall I? Say yes or no."}`

// tellingByAgents is a model whose turns, asked to "have a subagent tell", do so.
func tellingByAgents(door string) fakemodel.Script {
	tool, arguments, _ := strings.Cut(tells, " ")
	space := map[string]string{"mcp": "mcp__molecule"}[door]
	return func(turn *fakemodel.Turn) {
		outputs := len(turn.NewToolOutputs())
		switch {
		case turn.FromSubagent():
			if outputs == 0 {
				turn.CallIn(space, tool, arguments)
				return
			}
			turn.Say("told")
		case !strings.Contains(turn.LastUserText(), "have a subagent tell"):
			fakemodel.Keywords(turn)
		case outputs == 0:
			turn.CallIn("collaboration", "spawn_agent", `{"task_name":"sub","message":"go"}`)
		case outputs == 1:
			turn.CallIn("collaboration", "wait_agent", `{"timeout_ms":30000}`)
		default:
			turn.Say("done")
		}
	}
}

func (m *member) answersWhatWasShown(bob *fakeplatform.Handle, call string) {
	t := m.t
	shown := func(id, text string) {
		if said := m.user(id, text); !strings.Contains(said, "codex asks") {
			t.Errorf("the user is asked %q", said)
		}
	}
	for name, ask := range map[string]func(text string){
		"own": func(text string) {
			self := message("own", "canvas-"+m.handle.ID(), text)
			self["metadata"] = object{"source_type": "self-delegation-results"}
			asked(t, m.task(m.call("SendMessage", object{"message": self})), 0, "codex asks")
		},
		"beside": func(text string) {
			shown("beside", text)
			m.peerSends(bob, "b1", "", call+tells)
		},
		"request": func(text string) {
			shown("request", text)
			m.peerSends(bob, "b2", "", call+`create_approval {"action":"Shall I? Say yes or no."}`)
		},
		"subagent": func(text string) {
			shown("subagent", text)
			m.peerSends(bob, "b3", "", "have a subagent tell")
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

// TestYesWhileTheUserIsTold: the user reads what the platform has taken before it has answered.
func TestYesWhileTheUserIsTold(t *testing.T) {
	t.Parallel()
	for door, call := range doors {
		t.Run(door, func(t *testing.T) {
			t.Parallel()
			m := newMember(t, fakeplatform.AUG)
			model := modeltest.Start(t, fakemodel.Keywords)
			m.program = startOn(t, binary, model, append(m.settings(), "RUNTIME_TOOLS="+door)...)
			m.online()
			bob := m.platform.Add(fakeplatform.Workspace{Name: "Bob", Reply: strings.ToUpper})
			evil := filepath.Join(codextest.Dir(t, "outside"), "evil")
			if said := m.user("u1", wants(object{"cmd": "touch " + evil})); !strings.Contains(said, "codex asks") {
				t.Fatalf("the user is asked %q", said)
			}
			told, answered := make(chan struct{}), make(chan struct{})
			m.platform.Behave("POST */notify", fakeplatform.Then(func() {
				close(told)
				<-answered
			}).Times(1))
			defer close(answered)
			sent := message("b1", "", call+tells)
			sent["metadata"] = object{"source_workspace_id": bob.ID(), "delegation_id": "b1"}
			peer := m.stream(t.Context(), "SendStreamingMessage", object{"message": sent})
			peer.until("tool") // codex tells of it by another way
			<-told
			if said := m.user("yes", "yes"); !strings.Contains(said, "was not taken") {
				t.Errorf("the user is answered %q", said)
			}
			if _, err := os.Lstat(evil); err == nil {
				t.Error("a yes was leave for what was not shown last")
			}
		})
	}
}

// TestYesIsForWhatTheChannelHasShown: the same where the inbox is read, and not served.
func TestYesIsForWhatTheChannelHasShown(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	x := poll(t, "CODEX_APPROVAL_POLICY=on-request")
	bob := x.neighbour("Bob")
	evil := filepath.Join(codextest.Dir(t, "outside"), "beside")
	x.say(wants(object{"cmd": "touch " + evil}))
	x.told(1)
	bob.send(x.handle, "b1", doors["dynamic"]+tells, nil)
	x.told(2)
	x.say("yes")
	if told := x.told(3); !strings.Contains(told[2], "was not taken") || !strings.Contains(told[2], evil) {
		t.Errorf("the user is told %q", told)
	}
	if _, err := os.Lstat(evil); err == nil {
		t.Error("a yes was leave for what was not shown last")
	}
	x.arrived(3)
	x.say("yes")
	progtest.WaitFor(t, "the command to run", func() bool { _, err := os.Lstat(evil); return err == nil })
}

// TestYesOfBeforeTheQuestion: what the inbox has of before the user was asked is for something else.
func TestYesOfBeforeTheQuestion(t *testing.T) {
	t.Parallel()
	x := poll(t, "CODEX_APPROVAL_POLICY=on-request")
	evil := filepath.Join(codextest.Dir(t, "outside"), "evil")
	x.say(wants(object{"cmd": "touch " + evil}))
	x.told(1)
	x.wrote("yes", time.Now().Add(-10*time.Second))
	if told := x.told(2); !strings.Contains(told[1], "was not taken") || !strings.Contains(told[1], evil) {
		t.Errorf("the user is told %q", told)
	}
	if _, err := os.Lstat(evil); err == nil {
		t.Error("a yes was leave for what was asked after it")
	}
	x.arrived(2)
	x.say("yes")
	progtest.WaitFor(t, "the command to run", func() bool { _, err := os.Lstat(evil); return err == nil })
}

// TestYesWhileOneIsPutOff: two that are read together are for nothing but what was told before both.
func TestYesWhileOneIsPutOff(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	x := poll(t, "CODEX_APPROVAL_POLICY=on-request")
	bob := x.neighbour("Bob")
	evil := filepath.Join(codextest.Dir(t, "outside"), "evil")
	x.say(wants(object{"cmd": "touch " + evil}))
	x.told(1)
	bob.send(x.handle, "b1", doors["dynamic"]+tells, nil)
	x.told(2)
	written := time.Now().Add(-10 * time.Second)
	x.wrote("yes", written)
	x.wrote("ok", written)
	if told := x.told(4); !strings.Contains(told[3], "was not taken") {
		t.Errorf("the user is told %q", told)
	}
	if _, err := os.Lstat(evil); err == nil {
		t.Error("a second yes was leave for what the first was posed again")
	}
}

// wrote is the user on the canvas at another time.
func (x *polling) wrote(text string, at time.Time) {
	x.handle.AddRow(fakeplatform.Row{Method: "message/send", Summary: text, At: at})
}
