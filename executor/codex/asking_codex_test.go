package codex_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// The tests in this file have the real codex ask, in each way that it can be
// made to.

// asks describes an executor whose codex asks before it leaves its sandbox.
func asks(args ...string) func(*config) {
	return func(c *config) {
		c.Thread.ApprovalPolicy, c.Thread.Sandbox = agent.OnRequest, agent.WorkspaceWrite
		c.Child.Args = append(slices.Clone(c.Child.Args), args...)
	}
}

// withMCP adds the server of this binary. It is required, as codex begins a turn without the
// tools of a server that is still starting (seen on 0.169.0, of one that took two seconds).
func withMCP(args ...string) func(*config) {
	exe, _ := os.Executable()
	return asks(append([]string{"-c", fmt.Sprintf(`mcp_servers.asker={command=%q,env={%s="1"},startup_timeout_sec=120,required=true}`, exe, mcpVar)}, args...)...)
}

const userInput = `call request_user_input {"questions":[{"id":"colour","header":"Colour","question":"Which colour?",` +
	`"options":[{"label":"red","description":"warm"},{"label":"blue","description":"cold"}]}]}`

// asked waits for the nth question of a job. A job that ends without it is told of at once.
func (w *witness) asked(t *testing.T, n int) agent.Question {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Logf("what it was told: %+v", seen[agent.Event](w))
		}
	}()
	eventually(t, fmt.Sprintf("question %d", n), func() bool {
		for _, end := range seen[agent.Ended](w) {
			if len(seen[agent.Question](w)) < n {
				t.Fatalf("it has ended without question %d: %s %q, %v", n, end.Outcome, said(end), end.Failure)
			}
		}
		return len(seen[agent.Question](w)) >= n
	})
	return seen[agent.Question](w)[n-1]
}

// reply answers in words, or in data if that is an object.
func reply(t *testing.T, e *rig, job string, q agent.Question, answer string) error {
	t.Helper()
	a := agent.Answer{ID: "answer", Question: q.ID, Text: answer}
	if strings.HasPrefix(answer, "{") {
		a.Text = ""
		if err := json.Unmarshal([]byte(answer), &a.Data); err != nil {
			t.Fatal(err)
		}
	}
	return e.Answer(job, a)
}

func mustReply(t *testing.T, e *rig, job string, q agent.Question, answer string) {
	t.Helper()
	if err := reply(t, e, job, q, answer); err != nil {
		t.Fatalf("%s to %s: %v", answer, q.ID, err)
	}
}

func TestCommandApproval(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	e := onCodex(t, model, asks())
	for i, c := range []struct {
		answer  string
		outcome agent.Outcome
		says    string
	}{
		{"yes", agent.Completed, "ran"},
		{`{"decision":"decline"}`, agent.Completed, "rejected by user"},
		{"cancel", agent.Canceled, ""},
	} {
		id := fmt.Sprintf("j%d", i)
		w := submit(t, e, id, "one", "escalate echo ran")
		q := w.asked(t, 1)
		if q.Kind != "command" || !strings.Contains(q.Text, "echo ran") || !strings.Contains(q.Text, "may I?") || q.Data["id"] != q.ID || !agent.IsQuestionID(q.ID) {
			t.Errorf("asked %+v", q)
		}
		mustReply(t, e, id, q, c.answer)
		end := w.wait(t)
		if end.Outcome != c.outcome || !strings.Contains(said(end), c.says) {
			t.Errorf("%s: %s with %q (%v), want %s with %q", c.answer, end.Outcome, said(end), end.Failure, c.outcome, c.says)
		}
		if err := reply(t, e, id, q, "yes"); !errors.Is(err, executor.ErrNotAsked) {
			t.Errorf("an answer after the end: %v", err)
		}
	}
	wantAlive(t, e, "one")
}

// TestCommandsAreAllowedOnce: what codex holds for the same command need not be the same to the
// shell, and one that is asked about in the sandbox could leave it the next time. So each is asked
// about again, whatever was said, and an "always" is a "yes" to this one.
func TestCommandsAreAllowedOnce(t *testing.T) {
	t.Parallel()
	commands := []string{"echo /ran", "echo /ran", "echo\r/ran"}
	model := modeltest.Start(t, func(t *fakemodel.Turn) {
		done := len(t.NewToolOutputs())
		if done == len(commands) {
			t.Say("all")
			return
		}
		t.Call("exec_command", fakemodel.Escalated(commands[done]))
	})
	e := onCodex(t, model, asks())
	w := submit(t, e, "j1", "one", "go")
	for i, answer := range []string{"always", `{"decision":"acceptForSession"}`, "no"} {
		q := w.asked(t, i+1)
		if shown, _ := q.Data["command"].(string); !strings.Contains(shown, commands[i]) || strings.Contains(q.Accepts+fmt.Sprint(q.Data), "always") {
			t.Errorf("%q is asked about as %v, %q", commands[i], q.Data, q.Accepts)
		}
		mustReply(t, e, "j1", q, answer)
	}
	if end := w.wait(t); said(end) != "all" {
		t.Errorf("end = %+v", end)
	}
	if told := seen[agent.Notice](w); len(told) != 2 || !strings.Contains(told[0].Text, "for this once") {
		t.Errorf("the sender is told %v", told)
	}
}

func TestFileChangeApproval(t *testing.T) {
	t.Parallel()
	for answer, made := range map[string]bool{"approve": true, "no": false} {
		t.Run(answer, func(t *testing.T) {
			var dir string
			e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), func(c *config) {
				asks()(c)
				c.Thread.Sandbox = agent.ReadOnly
				dir = c.Child.Dir
			})
			w := submit(t, e, "j1", "one", "patch new.txt")
			q := w.asked(t, 1)
			changes, _ := q.Data["changes"].([]any)
			if len(changes) != 1 || !strings.Contains(fmt.Sprint(changes), "two") || !strings.Contains(q.Text, "new.txt") {
				t.Errorf("asked %+v", q)
			}
			mustReply(t, e, "j1", q, answer)
			end := w.wait(t)
			_, err := os.Stat(filepath.Join(dir, "new.txt"))
			if end.Outcome != agent.Completed || (err == nil) != made {
				t.Errorf("end = %+v; the file: %v", end, err)
			}
		})
	}
}

func TestPermissionsApproval(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), asks("-c", "features.request_permissions_tool=true"))
	const ask = `call request_permissions {"reason":"need it","permissions":{"network":{"enabled":true}}}`
	for i, c := range [][2]string{
		{"yes", `"permissions":{"network":{"enabled":true},"file_system":null},"scope":"turn"`},
		{"no", `"network":null`},
		{"always", `"scope":"session"`},
	} {
		id := fmt.Sprintf("j%d", i)
		w := submit(t, e, id, "one", ask)
		mustReply(t, e, id, w.asked(t, 1), c[0])
		if end := w.wait(t); !strings.Contains(said(end), c[1]) && c[0] != "no" {
			t.Errorf("%s: the model is told %q, want %s", c[0], said(end), c[1])
		}
	}
}

// TestCommandWithPermissions names in words what is asked beside the command.
func TestCommandWithPermissions(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), asks("-c", "features.exec_permission_approvals=true"))
	w := submit(t, e, "j1", "one", `call exec_command {"cmd":"git status","sandbox_permissions":"with_additional_permissions","justification":"look",`+
		`"additional_permissions":{"network":{"enabled":true},"file_system":{"write":["/var/opt"]}}}`)
	q := w.asked(t, 1)
	for _, words := range []string{"git status", "    use the network, this machine's own ports too, and this runtime's among them\n    write /var/opt\n"} {
		if !strings.Contains(q.Text, words) {
			t.Errorf("asked %q, want %q in it", q.Text, words)
		}
	}
	mustReply(t, e, "j1", q, "no")
	w.wait(t)
}

// TestPermissionMovesBeforeTheAnswer: what was allowed to write below a link may not write where
// that leads by then.
func TestPermissionMovesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	for moves, writes := range map[bool]bool{false: true, true: false} {
		t.Run(fmt.Sprintf("moves %t", moves), func(t *testing.T) {
			t.Parallel()
			e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), asks("-c", "features.exec_permission_approvals=true"))
			dir, target, outside := codextest.Dir(t, "links"), codextest.Dir(t, "target"), codextest.Dir(t, "outside")
			link := filepath.Join(dir, "link")
			if err := os.Symlink(target, link); err != nil {
				t.Fatal(err)
			}
			w := submit(t, e, "j1", "one", fmt.Sprintf(`call exec_command {"cmd":"touch %[1]s/built","sandbox_permissions":"with_additional_permissions",`+
				`"justification":"build","additional_permissions":{"file_system":{"write":[%[1]q]}}}`, link))
			q := w.asked(t, 1)
			if moves {
				if err := errors.Join(os.Remove(link), os.Symlink(outside, link)); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.Contains(q.Text, "A link: "+link+" leads to "+target+"\n") {
				t.Errorf("asked %q", q.Text)
			}
			mustReply(t, e, "j1", q, "yes")
			w.wait(t)
			_, there := os.Stat(filepath.Join(target, "built"))
			_, elsewhere := os.Stat(filepath.Join(outside, "built"))
			if (there == nil) != writes || elsewhere == nil {
				t.Errorf("there: %v; elsewhere: %v", there, elsewhere)
			}
		})
	}
}

// TestFolderOfACommandIsALink that a command has made: the question has where it leads.
func TestFolderOfACommandIsALink(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), asks())
	outside := codextest.Dir(t, "outside")
	submit(t, e, "j1", "one", "run ln -s "+outside+" build").wait(t)
	w := submit(t, e, "j2", "two", `call exec_command {"cmd":"ls","workdir":"build","sandbox_permissions":"require_escalated","justification":"clean"}`)
	q := w.asked(t, 1)
	if !strings.Contains(q.Text, "/build leads to "+outside+"\nDirectory: ") {
		t.Errorf("asked %q", q.Text)
	}
	mustReply(t, e, "j2", q, "no")
	w.wait(t)
}

func TestUserInput(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), asks("-c", "features.default_mode_request_user_input=true"))
	for i, c := range [][2]string{
		{"2", `{"answers":{"colour":{"answers":["blue"]}}}`},
		{"neither of them", `{"answers":{"colour":{"answers":["neither of them"]}}}`},
		{`{"answers":{"colour":"red"}}`, `{"answers":{"colour":{"answers":["red"]}}}`},
		{`{"decision":"decline"}`, `{"answers":{}}`},
	} {
		id := fmt.Sprintf("j%d", i)
		w := submit(t, e, id, "one", userInput)
		mustReply(t, e, id, w.asked(t, 1), c[0])
		if end := w.wait(t); said(end) != c[1] {
			t.Errorf("%s: the model is told %q, want %s", c[0], said(end), c[1])
		}
	}
}

// TestMCP asks for leave to call a tool, and then what the tool wants to know.
func TestMCP(t *testing.T) {
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, fakemodel.Keywords), withMCP())
	w := submit(t, e, "j1", "one", "call mcp__asker::form {}")
	q := w.asked(t, 1)
	if q.Kind != "tool" || q.Data["tool"] != "form" || q.Data["server"] != "asker" {
		t.Errorf("asked %+v", q)
	}
	mustReply(t, e, "j1", q, "always")
	q = w.asked(t, 2)
	if q.Kind != "form" || !strings.Contains(q.Text, "Who are you?") {
		t.Errorf("asked %+v", q)
	}
	if _, ok := errors.AsType[*agent.NotUnderstoodError](reply(t, e, "j1", q, "age: 36")); !ok {
		t.Error("a form without its name was taken")
	}
	mustReply(t, e, "j1", q, "name: Ada\nage: 36")
	if end := w.wait(t); !strings.Contains(said(end), "accept map[age:36 name:Ada]") {
		t.Errorf("the tool is told %q", said(end))
	}
	w = submit(t, e, "j2", "one", "call mcp__asker::form {}") // the tool was allowed for the conversation
	mustReply(t, e, "j2", w.asked(t, 1), `{"action":"decline"}`)
	if end := w.wait(t); !strings.Contains(said(end), "decline") {
		t.Errorf("the tool is told %q", said(end))
	}
	w = submit(t, e, "j3", "one", "call mcp__asker::plain {}")
	mustReply(t, e, "j3", w.asked(t, 1), "no")
	if end := w.wait(t); !strings.Contains(said(end), "rejected") {
		t.Errorf("the model is told %q", said(end))
	}
}

// TestBoundsOfATurnThatAsksWithoutEnd: its questions are kept until its task ends, so beyond a bound they
// are declined, and the turn goes on.
func TestBoundsOfATurnThatAsksWithoutEnd(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	const calls = 26
	filler := strings.Repeat("0123456789abcde ", 6400)
	model := modeltest.Start(t, func(t *fakemodel.Turn) {
		n := len(t.NewToolOutputs())
		if n >= calls {
			t.Say("done")
			return
		}
		t.Call("exec_command", fakemodel.Escalated(fmt.Sprintf("echo %d %s > /dev/null", n, filler)))
	})
	e := onCodex(t, model, asks())
	w := submit(t, e, "j", "c", "go")
	asked := 0
	for ; !slices.ContainsFunc(seen[agent.Notice](w), func(n agent.Notice) bool { return strings.Contains(n.Text, "asked more than 4 MiB") }) && asked < calls; asked++ {
		mustReply(t, e, "j", w.asked(t, asked+1), "no")
		eventually(t, "the next question, or none", func() bool {
			return len(seen[agent.Question](w)) > asked+1 || len(seen[agent.Notice](w)) > 0
		})
	}
	if end := w.wait(t); end.Outcome != agent.Completed || said(end) != "done" || asked < 15 || asked > 22 {
		t.Errorf("%s with %q after %d questions", end.Outcome, said(end), asked)
	}
}
