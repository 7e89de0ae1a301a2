package codex_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// scripting is codex with a model that is offered its tools in scripts, and has one run that it
// does not wait for where it is asked for a "script".
func scripting(t *testing.T, policy agent.ApprovalPolicy, sandbox agent.Sandbox, changes ...func(*config)) *rig {
	t.Helper()
	model := modeltest.Start(t, func(t *fakemodel.Turn) {
		script, ok := strings.CutPrefix(t.LastUserText(), "script ")
		switch {
		case !ok:
			fakemodel.Keywords(t)
		case len(t.NewToolOutputs()) == 0:
			t.CallCustom("exec", "yield_control();\n"+script)
		default:
			t.Say("it runs")
		}
	})
	return onCodex(t, model, func(c *config) {
		withMCP("-c", `model="gpt-6.1-sol"`)(c)
		c.Thread.ApprovalPolicy, c.Thread.Sandbox = policy, sandbox
		for _, change := range changes {
			change(c)
		}
	})
}

// trying is a script that does something again and again, mostly after its turn has ended. What
// asks just then may ask no more (seen on 0.169.0).
func trying(something string) string {
	return "script await new Promise(r => setTimeout(r, 500)); " + again(something)
}

// tryingFrom is such a one that begins in the turn that has the file made.
func tryingFrom(sign, something string) string {
	return "script " + calling("until [ -e "+sign+" ]; do sleep 0.02; done", ", yield_time_ms: 60000") + "; " + again(something)
}

func again(something string) string {
	return `for (let i = 0; i < 400; i++) { await new Promise(r => setTimeout(r, 20)); try { ` + something + ` } catch (e) {} }`
}

func calling(command, more string) string {
	return fmt.Sprintf(`await tools.exec_command({cmd: %q%s})`, command, more)
}

// TestScriptEndsWhereMoreIsAllowed: what a turn in a narrow sandbox has had to ask for, its script
// does not do in a turn that need not ask.
func TestScriptEndsWhereMoreIsAllowed(t *testing.T) {
	t.Parallel()
	const escalated = `, sandbox_permissions: "require_escalated", justification: "x"`
	for name, c := range map[string]struct {
		policy agent.ApprovalPolicy
		does   func(file string) string
	}{
		"command":   {"untrusted", func(file string) string { return calling("touch "+file, "") }},
		"escalated": {agent.OnRequest, func(file string) string { return calling("touch "+file, escalated) }},
		"patch": {agent.OnRequest, func(file string) string {
			return fmt.Sprintf(`await tools.apply_patch("*** Begin Patch\n*** Add File: %s\n+x\n*** End Patch")`, file)
		}},
		"tool": {agent.OnRequest, func(string) string { return `await tools.mcp__asker__plain({})` }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := scripting(t, agent.Never, agent.FullAccess)
			file := filepath.Join(codextest.Dir(t, "outside"), "file")
			if name != "escalated" { // which the policy never refuses at once
				wantGoesOn(t, e, trying(c.does(file)))
				_ = os.Remove(file)
			}
			narrow := agent.Options{Sandbox: agent.ReadOnly, ApprovalPolicy: c.policy}
			wantEnd(t, submitWith(t, e, "j1", trying(c.does(file)), narrow).wait(t), agent.Completed, "")
			wide := submit(t, e, "j2", "one", "run sleep 1.5")
			wantEnd(t, wide.wait(t), agent.Completed, "")
			if _, err := os.Stat(file); err == nil {
				t.Error("it has written the file")
			}
			wantOwn(t, wide)
		})
	}
}

// wantGoesOn has the script go on in a turn that may do the same as its own.
func wantGoesOn(t *testing.T, e *rig, script string) {
	t.Helper()
	wantEnd(t, submit(t, e, "c1", "control", script).wait(t), agent.Completed, "")
	w := submit(t, e, "c2", "control", "run sleep 67.75")
	eventually(t, "the script to go on", func() bool { return ofScript(w) != nil })
	cancel(t, e, "c2")
	wantEnd(t, w.wait(t), agent.Canceled, "")
}

// ofScript is the first item of a script that the turn shows.
func ofScript(w *witness) *agent.Item {
	for _, s := range seen[agent.ItemStarted](w) {
		if strings.HasPrefix(s.Item.ID, "exec-") {
			return &s.Item
		}
	}
	return nil
}

func wantOwn(t *testing.T, w *witness) {
	t.Helper()
	if item := ofScript(w); item != nil {
		t.Errorf("the turn shows %s %q of a script", item.Name, item.Command)
	}
}

// TestScriptOfAConversationLetGo, of which nothing is known any more but its thread, ends where its
// next turn may do something else.
func TestScriptOfAConversationLetGo(t *testing.T) {
	t.Parallel()
	narrow := agent.Options{Sandbox: agent.ReadOnly, ApprovalPolicy: agent.OnRequest}
	for name, o := range map[string][2]agent.Options{"more": {narrow, {}}, "less": {{}, narrow}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := scripting(t, agent.Never, agent.FullAccess, func(c *config) { c.Journal = &notebook{} })
			file := filepath.Join(codextest.Dir(t, "outside"), "file")
			wantEnd(t, submitWith(t, e, "j1", trying(calling("touch "+file, "")), o[0]).wait(t), agent.Completed, "")
			if err := e.Forget(t.Context(), "one"); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(file) // which its own turn may have made
			then := submitWith(t, e, "j3", "run sleep 1.5", o[1])
			wantEnd(t, then.wait(t), agent.Completed, "")
			if _, err := os.Stat(file); err == nil {
				t.Error("it has written the file")
			}
			wantOwn(t, then)
		})
	}
}

// TestScriptEndsWhereLessIsAllowed, and the conversation is what it was.
func TestScriptEndsWhereLessIsAllowed(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := scripting(t, agent.Never, agent.FullAccess)
	file := filepath.Join(codextest.Dir(t, "outside"), "file")
	wantEnd(t, submit(t, e, "j0", "one", "remember red-1").wait(t), agent.Completed, "")
	sign := file + ".sign"
	wantEnd(t, submit(t, e, "j1", "one", tryingFrom(sign, calling("echo x >> "+file, ""))).wait(t), agent.Completed, "")
	wantEnd(t, submit(t, e, "j2", "one", "run touch "+sign+"; until [ -e "+file+" ]; do sleep 0.02; done").wait(t), agent.Completed, "")
	less := agent.Options{Sandbox: agent.ReadOnly}
	wantEnd(t, submitWith(t, e, "j3", "run sleep 0.5", less).wait(t), agent.Completed, "")
	before := lines(file) // a line that was being written between the turns is not meant
	narrow := submitWith(t, e, "j4", "run sleep 1", less)
	wantEnd(t, narrow.wait(t), agent.Completed, "")
	if after := lines(file); after != before {
		t.Errorf("it has written %d lines more", after-before)
	}
	wantOwn(t, narrow)
	if end := submit(t, e, "j5", "one", "recall").wait(t); !strings.Contains(said(end), "red-1") {
		t.Errorf("it does not remember: %q", said(end))
	}
	if restarts := e.Health().Child.Restarts; restarts != 0 {
		t.Errorf("codex was restarted %d times", restarts)
	}
}

// TestScriptInALaterTurn: where nothing changes a script goes on, shown with the turn in which it
// does; what it asks is not put to the sender of that.
func TestScriptInALaterTurn(t *testing.T) {
	t.Parallel()
	e := scripting(t, agent.OnRequest, agent.WorkspaceWrite)
	asked := filepath.Join(codextest.Dir(t, "outside"), "file")
	does := calling("touch "+asked, `, sandbox_permissions: "require_escalated", justification: "x"`) + "} catch (e) {} try {" + calling("touch first", "") + "; " + calling("touch done", "")
	sign := asked + ".sign"
	wantEnd(t, submit(t, e, "j1", "one", tryingFrom(sign, does)).wait(t), agent.Completed, "")
	later := submit(t, e, "j2", "one", "run until [ -e done ]; do sleep 0.02; done")
	if err := os.WriteFile(sign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, later.wait(t), agent.Completed, "")
	if questions := seen[agent.Question](later); len(questions) > 0 {
		t.Errorf("asked %q", questions[0].Text)
	}
	if _, err := os.Stat(asked); err == nil {
		t.Error("it has written the file")
	}
	shows := func(i agent.Item) bool { return strings.Contains(i.Command, "touch first") }
	if !slices.ContainsFunc(seen[agent.ItemStarted](later), func(s agent.ItemStarted) bool { return shows(s.Item) }) ||
		!slices.ContainsFunc(seen[agent.ItemCompleted](later), func(s agent.ItemCompleted) bool { return shows(s.Item) }) {
		t.Error("its commands are not shown")
	}
}

// TestScriptStandsStill between the turns of its conversation, and goes on in the next.
func TestScriptStandsStill(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := scripting(t, agent.Never, agent.FullAccess)
	file := filepath.Join(codextest.Dir(t, "outside"), "file")
	wantEnd(t, submit(t, e, "j1", "one", trying(calling("echo x >> "+file, ""))).wait(t), agent.Completed, "")
	wantEnd(t, submit(t, e, "j2", "other", "run sleep 1").wait(t), agent.Completed, "")
	before := lines(file) // which were being written at the end of its turn
	wantEnd(t, submit(t, e, "j3", "other", "run sleep 1").wait(t), agent.Completed, "")
	if after := lines(file); after != before {
		t.Errorf("between the turns it has written %d lines", after-before)
	}
	w := submit(t, e, "j4", "one", "run sleep 67.75")
	wantWork(t, file)
	cancel(t, e, "j4")
	wantEnd(t, w.wait(t), agent.Canceled, "")
}

// TestFormOfAScriptInALaterTurn: a form of an MCP server's own is put to the sender of the message
// that runs, though not the question whether the script may call a tool.
func TestFormOfAScriptInALaterTurn(t *testing.T) {
	t.Parallel()
	e := scripting(t, agent.OnRequest, agent.WorkspaceWrite)
	sign := filepath.Join(codextest.Dir(t, "outside"), "sign")
	first := submit(t, e, "j1", "one", "script "+calling("until [ -e "+sign+" ]; do sleep 0.02; done", ", yield_time_ms: 60000")+
		`; try { await tools.mcp__asker__plain({}) } catch (e) {} const said = await tools.mcp__asker__sure({}); `+
		"await tools.exec_command({cmd: \"echo '\" + JSON.stringify(said).replaceAll(\"'\", \"\") + \"' > told; touch done\"})")
	wantEnd(t, first.wait(t), agent.Completed, "")
	later := submit(t, e, "j2", "one", "run until [ -e done ]; do sleep 0.02; done; cat told")
	if err := os.WriteFile(sign, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	mustReply(t, e, "j2", later.asked(t, 1), "yes")
	end := later.wait(t)
	wantEnd(t, end, agent.Completed, "")
	if !strings.Contains(said(end), "the answer: accept") {
		t.Errorf("the script is told %q", said(end))
	}
	questions := seen[agent.Question](later)
	if len(questions) != 1 || questions[0].Kind != "form" || !strings.Contains(questions[0].Text, "Are you sure?") || len(seen[agent.Question](first)) != 0 {
		t.Errorf("asked %+v", questions)
	}
}

// TestScriptEndsWithACancel of any turn of its conversation.
func TestScriptEndsWithACancel(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	e := scripting(t, agent.Never, agent.FullAccess)
	file := filepath.Join(codextest.Dir(t, "outside"), "file")
	sign := file + ".sign"
	wantEnd(t, submit(t, e, "j1", "one", tryingFrom(sign, calling("echo x >> "+file, ""))).wait(t), agent.Completed, "")
	later := submit(t, e, "j2", "one", "run touch "+sign+"; sleep 67.25")
	eventually(t, "the script to go on", func() bool { return lines(file) > 2 })
	cancel(t, e, "j2")
	wantEnd(t, later.wait(t), agent.Canceled, "")
	wantEnd(t, submit(t, e, "j3", "one", "run sleep 0.5").wait(t), agent.Completed, "")
	before := lines(file) // a line that was being written at the end is not meant
	last := submit(t, e, "j4", "one", "run sleep 1")
	wantEnd(t, last.wait(t), agent.Completed, "")
	if after := lines(file); after != before {
		t.Errorf("it has written %d lines more", after-before)
	}
	wantOwn(t, last)
}

// TestScriptAsksInItsTurn as anything of the turn does.
func TestScriptAsksInItsTurn(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, func(t *fakemodel.Turn) {
		if len(t.NewToolOutputs()) == 0 {
			t.CallCustom("exec", calling(t.LastUserText(), `, sandbox_permissions: "require_escalated", justification: "x"`))
			return
		}
		t.Say("done")
	})
	e := onCodex(t, model, asks("-c", `model="gpt-6.1-sol"`))
	file := filepath.Join(codextest.Dir(t, "outside"), "file")
	w := submit(t, e, "j1", "one", "touch "+file)
	mustReply(t, e, "j1", w.asked(t, 1), "yes")
	wantEnd(t, w.wait(t), agent.Completed, "")
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
}
