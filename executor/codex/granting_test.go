package codex_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// given finds what subagents are told to do, and what they have done since.
var given = regexp.MustCompile(`"encrypted_content":"((?:[^"\\]|\\.)*)"`)

// commanding is a model whose turns and subagents, asked to "make TASK", make a subagent with
// this task, asked to "have AGENT TASK" give it to one that there is, and asked to "write
// FILE" do so.
func commanding(t *fakemodel.Turn) {
	body := string(t.Body)
	if !t.FromSubagent() {
		command(t, t.LastUserText(), len(t.NewToolOutputs()))
		return
	}
	tasks := given.FindAllStringSubmatchIndex(body, -1)
	last := tasks[len(tasks)-1]
	done := strings.Count(body[last[1]:], `"function_call_output"`)
	switch file, writes := strings.CutPrefix(body[last[2]:last[3]], "write "); {
	case !writes:
		command(t, body[last[2]:last[3]], done)
	case done == 0:
		t.Exec("echo x >> " + file)
	default:
		t.Say("done")
	}
}

// command makes a subagent of a turn or a subagent, or gives one work, and waits for it.
func command(t *fakemodel.Turn, text string, done int) {
	words := strings.Fields(text)
	tool, args := "", map[string]string{}
	switch words[0] {
	case "make":
		tool, args = "spawn_agent", map[string]string{"task_name": "sub", "message": strings.Join(words[1:], " ")}
	case "have":
		tool, args = "followup_task", map[string]string{"target": words[1], "message": strings.Join(words[2:], " ")}
	}
	switch {
	case tool == "" || done == 2:
		t.Say("ok")
	case done == 1:
		t.CallIn("collaboration", "wait_agent", `{"timeout_ms":10000}`)
	default:
		raw, _ := json.Marshal(args)
		t.CallIn("collaboration", tool, string(raw))
	}
}

// TestSubagentMayWhatItsTurnMay, and neither more nor less, whatever that one might which
// has made it: with a turn in a narrower sandbox, one in the conversation's own, and both
// after a restart of codex.
func TestSubagentMayWhatItsTurnMay(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	var dir string
	e := onCodex(t, modeltest.Start(t, commanding), func(c *config) {
		c.Thread.Sandbox = agent.WorkspaceWrite
		dir = c.Child.Dir
	})
	turn := func(id, text string, o agent.Options) {
		t.Helper()
		if end := submitWith(t, e, id, text, o).wait(t); end.Outcome != agent.Completed {
			t.Fatalf("%s: %+v", id, end)
		}
	}
	turn("make", "make make rest", agent.Options{})
	narrow := agent.Options{Sandbox: agent.ReadOnly}
	for i, c := range []struct {
		agent  string
		o      agent.Options
		writes bool
	}{
		{"sub", agent.Options{}, true},
		{"sub", narrow, false},
		{"sub have sub", narrow, false},
		{"sub", agent.Options{}, true},
		{"sub have sub", agent.Options{}, true},
		{"sub have sub", narrow, false},
		{"killed", agent.Options{}, true},
		{"sub", narrow, false},
		{"sub", agent.Options{}, true},
		{"sub", narrow, false},
	} {
		if c.agent == "killed" {
			_ = syscall.Kill(e.Health().Child.Pid, syscall.SIGKILL)
			continue
		}
		file := filepath.Join(dir, "file")
		turn("turn-"+string(rune('a'+i)), "have "+c.agent+" write "+file, c.o)
		_, err := os.Stat(file)
		if wrote := err == nil; wrote != c.writes {
			t.Errorf("%d: %s with %+v has written: %v", i, c.agent, c.o, wrote)
		}
		_ = os.Remove(file)
	}
}

// TestSubagentAtWorkEndsWhereLessIsAllowed: it goes on beside turns that may what its own
// might, and ends where one begins that may less.
func TestSubagentAtWorkEndsWhereLessIsAllowed(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := onCodex(t, modeltest.Start(t, spawning), nil)
	file := filepath.Join(codextest.Dir(t, "lines"), "file.31")
	wantEnd(t, submit(t, e, "j1", "one", "spawn once "+file).wait(t), agent.Completed, "")
	submit(t, e, "j2", "one", "run true").wait(t)
	wantWork(t, file)
	submitWith(t, e, "j3", "run true", agent.Options{Sandbox: agent.ReadOnly}).wait(t)
	wantQuiet(t, e, file)
}

// TestSubagentsThatCannotBeUnloaded end with codex, which is restarted.
func TestSubagentsThatCannotBeUnloaded(t *testing.T) {
	t.Parallel()
	e := onFake(t, "once; no-answer thread/loaded/list", func(c *config) { c.Patience = time.Second })
	wantEnd(t, submit(t, e, "j1", "one", "hello").wait(t), agent.Completed, "")
	w := submitWith(t, e, "j2", "hello", agent.Options{Sandbox: agent.ReadOnly})
	wantEnd(t, w.wait(t), agent.Completed, "")
	if restarts := e.Health().Child.Restarts; restarts != 1 {
		t.Errorf("%d restarts, want one", restarts)
	}
}

// TestConversationThatCannotBeUnloaded, ever: codex is restarted once for each change of what turns
// may do, and none of the conversation is lost.
func TestConversationThatCannotBeUnloaded(t *testing.T) {
	t.Parallel()
	for script, restarts := range map[string]int{
		"turn echo": 0,
		"turn echo; refuse thread/archive it fails":         2,
		"turn echo; refuse-first thread/unarchive it fails": 2, // the first of each codex
		"turn echo; refuse thread/archive thread not found": 0,
	} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			e := onFake(t, script, nil)
			first := submit(t, e, "j1", "one", "hello")
			wantEnd(t, first.wait(t), agent.Completed, "")
			thread := seen[agent.Started](first)[0].ThreadID
			for i, o := range []agent.Options{{Sandbox: agent.ReadOnly}, {Sandbox: agent.ReadOnly}, {}} {
				w := submitWith(t, e, fmt.Sprint("then-", i), "hello", o)
				if wantEnd(t, w.wait(t), agent.Completed, ""); t.Failed() {
					return
				}
				if got := seen[agent.Started](w)[0]; got.ThreadID != thread || got.Replaced {
					t.Errorf("%+v: in thread %s, want %s", o, got.ThreadID, thread)
				}
			}
			if got := e.Health().Child.Restarts; got != restarts {
				t.Errorf("%d restarts, want %d", got, restarts)
			}
		})
	}
}

// TestOverloadedUnloading is no unloading: the message is offered again, and does not run.
func TestOverloadedUnloading(t *testing.T) {
	t.Parallel()
	e := onFake(t, "turn echo; refuse thread/archive Server overloaded", nil)
	wantEnd(t, submit(t, e, "j1", "one", "hello").wait(t), agent.Completed, "")
	w := submitWith(t, e, "j2", "hello", agent.Options{Sandbox: agent.ReadOnly})
	wantEnd(t, w.wait(t), agent.Failed, agent.FailModel)
}

// TestConversationThatLoadsSlowly, as with MCP servers that take their time, which may be longer
// than codex is given for an answer else.
func TestConversationThatLoadsSlowly(t *testing.T) {
	t.Parallel()
	e := onFake(t, "slow thread/resume 2500", func(c *config) { c.Patience = 2 * time.Second })
	wantEnd(t, submit(t, e, "j1", "one", "hello").wait(t), agent.Completed, "")
	narrow := agent.Options{Sandbox: agent.ReadOnly}
	wantEnd(t, submitWith(t, e, "j2", "hello", narrow).wait(t), agent.Completed, "")
}

// TestSubagentAtWorkEndsWhereMoreIsAllowed: it began in a turn that was to do less.
func TestSubagentAtWorkEndsWhereMoreIsAllowed(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	var dir string
	e := onCodex(t, modeltest.Start(t, spawning), func(c *config) { dir = c.Child.Dir })
	file := filepath.Join(dir, "file.32")
	narrow := agent.Options{Sandbox: agent.WorkspaceWrite, ApprovalPolicy: agent.Never}
	wantEnd(t, submitWith(t, e, "j1", "spawn once "+file, narrow).wait(t), agent.Completed, "")
	wantWork(t, file)
	wantEnd(t, submit(t, e, "j2", "one", "run true").wait(t), agent.Completed, "")
	wantQuiet(t, e, file)
	if restarts := e.Health().Child.Restarts; restarts != 0 {
		t.Errorf("codex was restarted %d times", restarts)
	}
}

// TestSubagentOfANarrowTurnAsksAfterIt where turns may do everything that do not ask for
// less: codex is told no, though nothing says any more what the subagent may.
func TestSubagentOfANarrowTurnAsksAfterIt(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	told := make(chan string, 1)
	file := filepath.Join(codextest.Dir(t, "outside"), "file")
	e := onCodex(t, modeltest.Start(t, func(turn *fakemodel.Turn) {
		outputs := turn.NewToolOutputs()
		sub := turn.FromSubagent()
		switch {
		case sub && len(outputs) == 0:
			select {
			case <-over:
			case <-turn.Context().Done():
			}
			turn.Call("exec_command", fakemodel.Escalated("echo x > "+file))
		case sub:
			told <- outputs[0].Text
			turn.Say("done")
		case len(outputs) == 0:
			turn.CallIn("collaboration", "spawn_agent", `{"task_name":"sub","message":"do it"}`)
		default:
			turn.Say("spawned")
		}
	}), nil)
	narrow := agent.Options{Sandbox: agent.ReadOnly, ApprovalPolicy: agent.OnRequest}
	wantEnd(t, submitWith(t, e, "j1", "go", narrow).wait(t), agent.Completed, "")
	close(over)
	select {
	case text := <-told:
		if _, err := os.Stat(file); err == nil {
			t.Errorf("it has written outside of its sandbox, and was told %q", text)
		}
	case <-time.After(patience):
		t.Fatal("the subagent was told nothing")
	}
}
