package fakemodel_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// planOn makes codex offer update_plan, which it does not by default.
var planOn = []string{"-c", "tools.update_plan.enabled=true"}

// TestKeywordsInCodex proves each command by what the real codex makes of it.
func TestKeywordsInCodex(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	c := start(t, fakemodel.Keywords, planOn...)
	for _, test := range []struct {
		name, text, want string // want is all that the agent says
		check            func(t *testing.T, got *turn)
	}{
		{name: "echo", text: "good morning", want: "echo: good morning"},
		{name: "say", text: "say hello", want: "hello", check: wantPhase("final_answer")},
		{name: "commentary", text: "commentary looking", want: "looking", check: wantPhase("commentary")},
		{name: "two-lines", text: "Someone writes:\nsay one\n\nsay two", want: "one\ntwo"},
		{name: "stream", text: "stream 3 8", want: "0000000 0000001 0000002 ", check: func(t *testing.T, got *turn) {
			if n := got.count("item/agentMessage/delta"); n != 3 {
				t.Errorf("%d deltas, want 3", n)
			}
		}},
		{name: "run", text: "run echo a; echo b", want: "a\nb", check: wantCommand(0, "a\nb\n")},
		{name: "run-fails", text: "run exit 3", want: "(exit code 3)", check: wantCommand(3, "")},
		{name: "run-twice", text: "say first\nrun echo a\nsay between\nrun echo b\nsay last", want: "first\na\nbetween\nb\nlast"},
		{name: "output", text: "output 300000", check: func(t *testing.T, got *turn) {
			it, _ := got.item("commandExecution")
			if n := len(it.AggregatedOutput); n != 300000 {
				t.Errorf("%d bytes of output in the item, want 300000", n)
			}
			if !strings.HasPrefix(got.text(), "300000 bytes printed, ") {
				t.Errorf("the agent says %q", got.text())
			}
		}},
		{name: "patch", text: "patch new.txt", want: "created new.txt", check: func(t *testing.T, got *turn) {
			if diff := got.note("turn/diff/updated"); !strings.Contains(diff, `+three\n`) {
				t.Errorf("the diff of the turn is %s", diff)
			}
			if _, err := os.Stat(filepath.Join(c.cwd, "new.txt")); err != nil {
				t.Error(err)
			}
		}},
		{name: "plan", text: "plan", want: "plan: Plan updated", check: func(t *testing.T, got *turn) {
			if plan := got.note("turn/plan/updated"); !strings.Contains(plan, `{"step":"make a plan","status":"inProgress"}`) {
				t.Errorf("the plan of the turn is %s", plan)
			}
		}},
		{name: "think", text: "think of a number", want: "thought about: of a number", check: func(t *testing.T, got *turn) {
			if it, _ := got.item("reasoning"); len(it.Summary) != 1 || it.Summary[0] != "of a number" {
				t.Errorf("the reasoning is %+v", it)
			}
			if note := got.note("item/reasoning/summaryTextDelta"); !strings.Contains(note, "of a number") {
				t.Errorf("the reasoning delta is %s", note)
			}
		}},
		{name: "wait", text: "wait 10ms\nsay awake", want: "awake"},
		{name: "call", text: `call exec_command {"cmd":"echo called"}`, want: "called\n"},
		{name: "escalate", text: "escalate echo out", check: func(t *testing.T, got *turn) {
			if !strings.Contains(got.text(), "cannot ask for escalated permissions") { // nobody is asked here
				t.Errorf("the agent says %q", got.text())
			}
		}},
		{name: "usage", text: "usage 1234 56\nsay counted", want: "counted", check: func(t *testing.T, got *turn) {
			if note := got.note("thread/tokenUsage/updated"); !strings.Contains(note, `"totalTokens":1290`) {
				t.Errorf("the usage is %s", note)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.tb = t
			got := c.run(c.thread(), test.text)
			if got.status != "completed" {
				t.Fatalf("the turn is %s: %s", got.status, got.err)
			}
			if test.want != "" && got.text() != test.want {
				t.Errorf("the agent says %q, want %q", got.text(), test.want)
			}
			if test.check != nil {
				test.check(t, got)
			}
		})
	}
}

func wantPhase(want string) func(*testing.T, *turn) {
	return func(t *testing.T, got *turn) {
		t.Helper()
		if it, _ := got.item("agentMessage"); it.Phase != want {
			t.Errorf("the phase is %q, want %q", it.Phase, want)
		}
	}
}

func wantCommand(exit int, output string) func(*testing.T, *turn) {
	return func(t *testing.T, got *turn) {
		t.Helper()
		it, _ := got.item("commandExecution")
		if it.ExitCode == nil || *it.ExitCode != exit || it.AggregatedOutput != output {
			t.Errorf("the command is %+v, want exit code %d and output %q", it, exit, output)
		}
	}
}

func TestFailuresInCodex(t *testing.T) {
	t.Parallel()
	c := start(t, fakemodel.Keywords)
	for _, test := range []struct{ name, text, want string }{
		{"refused", "fail 401", `{"httpConnectionFailed":{"httpStatusCode":401}}`},
		{"too-many", "fail 429", `{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`},
		{"broken", "fail 500", `"internalServerError"`},
		{"limit", "fail limit 60", `usageLimitExceeded`},
		{"context", "fail context", `contextWindowExceeded`},
		{"drop", "drop", `stream disconnected before completion`},
		{"drop-in-text", "stream 3 8\ndrop", `stream disconnected before completion`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c.tb = t
			got := c.run(c.thread(), test.text)
			if got.status != "failed" || !strings.Contains(got.err, test.want) {
				t.Errorf("the turn is %s: %s, want failed with %s", got.status, got.err, test.want)
			}
		})
	}
}

func TestMemoryOfAThread(t *testing.T) {
	t.Parallel()
	c := start(t, fakemodel.Keywords)
	thread, other := c.thread(), c.thread()
	c.run(thread, "remember the milk")
	c.run(other, "say hello")
	if got := c.run(thread, "recall").text(); got != "recalled: the milk" {
		t.Errorf("the agent says %q", got)
	}
	if got := c.run(other, "recall").text(); got != "nothing to recall" {
		t.Errorf("in another thread the agent says %q", got)
	}
}

// TestCancelReachesTheModel interrupts a turn in which the model is silent.
func TestCancelReachesTheModel(t *testing.T) {
	t.Parallel()
	c := start(t, fakemodel.Keywords)
	thread := c.thread()
	c.begin(thread, "hang")
	c.waitRequest(1)
	c.post("turn/interrupt", map[string]any{"threadId": thread, "turnId": c.turnID()})
	if got := c.finish(); got.status != "interrupted" {
		t.Errorf("the turn is %s", got.status)
	}
	select {
	case rec := <-c.model.Dropped():
		if rec.LastUserText() != "hang" || rec.Outcome != fakemodel.Dropped {
			t.Errorf("dropped: %q, %s", rec.LastUserText(), rec.Outcome)
		}
	case <-time.After(patience):
		t.Fatal("the model's connection is still there")
	}
	if got := c.run(thread, "say after").text(); got != "after" {
		t.Errorf("the next turn says %q", got)
	}
}

// TestRunWaitsForTheCommand proves that a turn stays open, by polling, while
// its command runs, and that a detached one does not.
func TestRunWaitsForTheCommand(t *testing.T) {
	t.Parallel()
	c := start(t, fakemodel.Keywords)
	thread := c.thread()
	got := c.run(thread, "background sleep 60")
	if !strings.HasPrefix(got.text(), "goes on in session ") {
		t.Errorf("the agent says %q", got.text())
	}
	c.call("thread/backgroundTerminals/clean", map[string]any{"threadId": thread})
	if got = c.run(thread, "run sleep 0.5; echo done"); got.text() != "done" {
		t.Errorf("the agent says %q", got.text())
	}
}

func TestPatchForAnUnknownModel(t *testing.T) {
	t.Parallel()
	c := start(t, fakemodel.Keywords, "-c", `model="nobody-knows"`)
	got := c.run(c.thread(), "patch new.txt")
	if got.text() != "created new.txt" || !strings.Contains(got.note("turn/diff/updated"), `+three\n`) {
		t.Errorf("the agent says %q, the diff is %s", got.text(), got.note("turn/diff/updated"))
	}
}

func TestLongStreamThroughCodex(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	c := start(t, fakemodel.Keywords)
	got := c.run(c.thread(), "stream 60000 8")
	if n := got.count("item/agentMessage/delta"); n != 60000 {
		t.Errorf("%d deltas, want 60000", n)
	}
	if n := len(got.text()); n != 480000 {
		t.Errorf("%d bytes of text, want 480000", n)
	}
}

func TestBuiltInSaysWhatItIs(t *testing.T) {
	t.Parallel()
	c := start(t, fakemodel.BuiltIn)
	for _, test := range []struct{ text, want string }{
		{"hello", "echo: hello"},
		{"help", "run COMMAND"},
		{"say one\nsay two", "two"},
		{"please\nrun exit 1", "echo: please\nrun exit 1"},
		{"stream 2 8", "0000000 0000001 "},
	} {
		got := c.run(c.thread(), test.text)
		for _, it := range got.items {
			if it.Type == "agentMessage" && !strings.HasPrefix(it.Text, "[built-in scripted model, no intelligence behind it] ") {
				t.Errorf("%q is answered %q", test.text, it.Text)
			}
		}
		if !strings.Contains(got.text(), test.want) {
			t.Errorf("%q is answered %q, want %q in it", test.text, got.text(), test.want)
		}
	}
}
