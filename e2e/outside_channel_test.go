package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// host is an MCP host on the state that a channel has left.
func (x *polling) host() *mcpHost {
	x.t.Helper()
	h := &mcpHost{t: x.t, platform: x.platform, handle: x.handle}
	h.environ = append(progtest.Environ(x.t), "WORKSPACE_ID="+x.handle.ID(), "PLATFORM_URL="+x.platform.URL, "MOLECULE_WORKSPACE_TOKEN="+x.handle.Token(),
		"CHANNEL_POLL_INTERVAL=50ms", "RUNTIME_WORKDIR="+x.t.TempDir(), "RUNTIME_LOG=info", "RUNTIME_STATE_DIR="+x.State)
	h.start()
	return h
}

// begun is a turn that has run a command, which writes a line to a file, and goes on until the channel is killed.
func (x *polling) begun(text string) (lines func() int) {
	x.t.Helper()
	file := filepath.Join(x.Work, "lines")
	g := newGate()
	x.Model.SetScript(func(t *fakemodel.Turn) {
		if len(t.NewToolOutputs()) == 0 {
			t.Call("exec_command", fmt.Sprintf(`{"cmd":"echo line >> %s","yield_time_ms":5000}`, file))
			return
		}
		g.wait(t.Context())
	})
	x.say(text)
	x.modelAsked(2)
	return func() int {
		content, err := os.ReadFile(file)
		if err != nil {
			x.t.Fatal(err)
		}
		return strings.Count(string(content), "line\n")
	}
}

// TestMCPHostBetweenTwoChannels: a host that has the inbox for a moment takes nothing from a turn that was cut: its end
// is still told.
func TestMCPHostBetweenTwoChannels(t *testing.T) {
	t.Parallel()
	x := poll(t, "CODEX_APPROVAL_POLICY=on-request", "CODEX_QUESTION_TTL=2s")
	g := newGate()
	x.Model.SetScript(func(t *fakemodel.Turn) {
		if len(t.NewToolOutputs()) == 0 {
			t.Call("exec_command", fakemodel.Escalated("echo ran"))
			return
		}
		g.wait(t.Context())
	})
	x.say("go")
	if told := x.told(1); !strings.Contains(told[0], "echo ran") {
		t.Fatalf("the user was told %q", told)
	}
	x.arrived(1)
	x.modelAsked(2) // no answer has come in time, and the turn goes on
	x.Kill()
	h := x.host()
	h.nothing()
	_ = h.session.Close()
	x.again()
	if told := x.told(2); !strings.Contains(told[1], "stopped in the middle") {
		t.Errorf("the user was told %q", told)
	}
}

// TestMCPHostAnswersWhatCodexHasBegun: the host is told that codex had the message. When it answers all the same, the
// next channel does not have codex do it again, nor what the host takes off; what waits behind it goes on.
func TestMCPHostAnswersWhatCodexHasBegun(t *testing.T) {
	t.Parallel()
	x := poll(t, "RUNTIME_MID_TURN=queue")
	lines := x.begun("one")
	x.say("two")
	x.say("say three")
	progtest.WaitFor(t, "all messages to be taken", func() bool { return strings.Count(x.Log(), `"a message was taken"`) == 3 })
	x.Kill()
	x.Model.SetScript(fakemodel.Keywords)
	asked := len(x.Model.Requests())
	h := x.host()
	first, _, message := h.waits()
	if note := fmt.Sprint(message["note"]); !strings.Contains(note, "codex") || strings.Count(note, "is not known") != 1 {
		t.Errorf("the first is shown with %q", note)
	}
	h.again() // what was noted stays, once
	if _, _, message = h.waits(); strings.Count(fmt.Sprint(message["note"]), "is not known") != 1 {
		t.Errorf("then it is shown with %q", message["note"])
	}
	if got := h.reply(first, "from the host"); got["replied"] != true {
		t.Errorf("the reply: %v", got)
	}
	second, _, _ := h.waits()
	if got := h.call("inbox_pop", object{"activity_id": second}); got["removed"] != true {
		t.Errorf("the pop: %v", got)
	}
	third, _, _ := h.waits()
	x.again() // it has the host give the inbox up
	if told := x.told(2); !slices.Equal(told, []string{"from the host", "three"}) {
		t.Errorf("the user was told %q", told)
	}
	x.acked(2)
	if got := h.reply(third, "too late"); got["replied"] != false {
		t.Errorf("a reply to what the channel has: %v", got)
	}
	x.say("say four")
	if told := x.told(3); told[2] != "four" {
		t.Errorf("the user was told %q", told)
	}
	if n := lines(); n != 1 || len(x.Model.Requests()) != asked+2 {
		t.Errorf("the command ran %d times, and the model was asked %d times more", n, len(x.Model.Requests())-asked)
	}
}

// TestMCPHostGivesBackWhatCodexHasBegun: what the host was shown and has not answered when a channel is started goes on as
// the cut turn that it was, and is answered once.
func TestMCPHostGivesBackWhatCodexHasBegun(t *testing.T) {
	t.Parallel()
	x := poll(t)
	lines := x.begun("one")
	x.Kill()
	x.Model.SetScript(fakemodel.Keywords)
	h := x.host()
	id, _, _ := h.waits()
	x.again()
	if got := h.reply(id, "too late"); got["replied"] != false {
		t.Errorf("a reply to what the channel has: %v", got)
	}
	if told := x.told(1); !strings.Contains(told[0], "stopped in the middle") {
		t.Errorf("the user was told %q", told)
	}
	x.acked(0)
	x.say("say two")
	if told := x.told(2); told[1] != "two" || lines() != 1 {
		t.Errorf("the user was told %q, and the command ran %d times", told, lines())
	}
}
