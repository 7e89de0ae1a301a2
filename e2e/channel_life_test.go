package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// again starts the channel anew where it has ended.
func (x *polling) again() { x.Program = x.Restart() }

// TestChannelSeveralWorkspaces keeps apart what they talk about, also with the same peer.
func TestChannelSeveralWorkspaces(t *testing.T) {
	t.Parallel()
	x := &polling{platform: fakeplatform.Start(t, fakeplatform.AUG)}
	x.handle = x.platform.Add(fakeplatform.Workspace{Name: "Ada", Poll: true})
	other := x.platform.Add(fakeplatform.Workspace{Name: "Eve", Poll: true})
	list, _ := json.Marshal([]object{
		{"id": x.handle.ID(), "token": x.handle.Token(), "platform_url": x.platform.URL}, {"id": other.ID(), "token": other.Token()},
	})
	x.launch(t, []string{"channel"}, "MOLECULE_WORKSPACES="+string(list), "WORKSPACE_ID=", "MOLECULE_WORKSPACE_TOKEN=")
	x.AwaitListening()
	x.t = t
	bob := x.neighbour("Bob")
	bob.send(x.handle, "b1", "remember for-ada", nil)
	bob.got(1)
	bob.send(other, "b2", "recall", nil)
	if got := bob.got(2); got[1].From != other.ID() || strings.Contains(got[1].Text, "for-ada") {
		t.Errorf("Bob got %+v", got)
	}
	bob.send(x.handle, "b3", "recall", nil)
	if got := bob.got(3); got[2].From != x.handle.ID() || !strings.Contains(got[2].Text, "for-ada") {
		t.Errorf("Bob got %+v", got)
	}
	if _, err := other.Say(t.Context(), `call send_message_to_user {"message":"by a tool"}`); err != nil {
		t.Fatal(err)
	}
	progtest.WaitFor(t, "the tool to be of the workspace of its message", func() bool {
		told := other.Notices()
		return len(told) == 2 && told[0].Message == "by a tool"
	})
	if told := x.handle.Notices(); len(told) != 0 {
		t.Errorf("the other user was told %v", told)
	}
}

// TestChannelKilled is killed where it hurts, and nobody is told anything twice.
func TestChannelKilled(t *testing.T) {
	t.Parallel()
	x := poll(t)
	x.say("remember jade-4")
	x.told(1)
	end := x.Exited()
	x.platform.Behave("POST /workspaces/*/notify", fakeplatform.Then(func() { <-end }).Times(1)) // it is shown, and we never hear of it
	x.say("recall")
	x.told(2)
	x.Kill()
	x.again()
	progtest.WaitFor(t, "the platform's log to be asked", func() bool { return strings.Contains(x.Log(), `"arrived":true`) })
	x.acked(2)
	x.say("say third")
	if told := x.told(3); len(told) != 3 || !strings.Contains(told[1], "jade-4") || told[2] != "third" {
		t.Errorf("the user was told %q", told)
	}
	if n := len(x.Model.Requests()); n != 3 {
		t.Errorf("the model was asked %d times", n)
	}
}

// TestChannelDeadLetters: what the platform refuses for good is kept, said, and can be
// sent again, while the channel runs and while it does not.
func TestChannelDeadLetters(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	x := poll(t)
	letters := func() (out []struct{ ID, Activity, Text, Why string }) {
		printed, code := x.Command("channel", "dead", "--json")
		if err := json.Unmarshal([]byte(printed), &out); err != nil || code != 0 {
			t.Fatalf("%d, %v: %s", code, err, printed)
		}
		return out
	}
	x.platform.Behave("POST /workspaces/*/notify", fakeplatform.Refuse(400, `{"error":"the message is not liked"}`).Times(1))
	x.say("say precious")
	if told := x.told(1); !strings.Contains(told[0], "the message is not liked") || !strings.Contains(told[0], "runtime channel dead retry") {
		t.Errorf("the user was told %q", told)
	}
	x.acked(0)
	dead := letters()
	if len(dead) != 1 || dead[0].Text != "precious" || dead[0].Activity != x.handle.Rows()[0].ID {
		t.Fatalf("dead letters: %+v", dead)
	}
	if out, code := x.Command("channel", "dead", "retry", dead[0].ID); code != 0 || !strings.Contains(out, "being sent") {
		t.Errorf("retry: %d %s", code, out)
	}
	if told := x.told(2); told[1] != "precious" || len(letters()) != 0 {
		t.Errorf("the user was told %q", told)
	}
	x.platform.Behave("POST /workspaces/*/notify", fakeplatform.Refuse(413).Times(2))
	x.say("say once more")
	progtest.WaitFor(t, "another dead letter", func() bool { return len(letters()) == 1 })
	progtest.WaitFor(t, "the user not to be told so", func() bool { return strings.Contains(x.Log(), "the sender cannot be told that a reply was refused") })
	x.Stop()
	if out, code := x.Command("channel", "dead", "retry", letters()[0].Activity); code != 0 || !strings.Contains(out, "when the channel runs again") {
		t.Errorf("retry: %d %s", code, out)
	}
	if _, code := x.Command("channel", "dead", "retry", "nothing"); code != 1 {
		t.Errorf("retry of nothing: %d", code)
	}
	x.again()
	if told := x.told(3); told[2] != "once more" {
		t.Errorf("the user was told %q", told)
	}
}

// TestChannelOnce answers what there is and leaves.
func TestChannelOnce(t *testing.T) {
	t.Parallel()
	x := &polling{platform: fakeplatform.Start(t, fakeplatform.AUG)}
	x.handle = x.platform.Add(fakeplatform.Workspace{Name: "Ada", Poll: true})
	for _, text := range []string{"say one", "say two"} {
		if _, err := x.handle.Say(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	x.launch(t, []string{"channel", "--once"}, "RUNTIME_MID_TURN=queue", "RUNTIME_ADDR=")
	if code := x.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if told := x.told(2); !slices.Equal(told, []string{"one", "two"}) {
		t.Errorf("the user was told %q", told)
	}
	x.Program = x.Relaunch()
	if code := x.ExitCode(); code != 0 || len(x.handle.Notices()) != 2 {
		t.Errorf("the second time: exit code %d, the user was told %v", code, x.handle.Notices())
	}
}

// TestChannelInterrupted: the first time what runs comes to its end, and nothing new
// begins; the second time it ends at once, and goes on in the next process.
func TestChannelInterrupted(t *testing.T) {
	t.Parallel()
	x := poll(t, "RUNTIME_MID_TURN=queue")
	g := newGate()
	x.Model.SetScript(g.script)
	x.say("slowly\nsay finished")
	x.modelAsked(1)
	x.Signal(syscall.SIGINT)
	x.takesNoMore()
	x.say("slowly\nsay later")
	g.pass(t)
	if code := x.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if told := x.told(1); !slices.Equal(told, []string{"finished"}) {
		t.Errorf("the user was told %q", told)
	}
	x.again()
	x.modelAsked(2)
	x.Signal(syscall.SIGINT)
	x.takesNoMore()
	x.Signal(syscall.SIGINT)
	if code := x.ExitCode(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	x.Model.SetScript(fakemodel.Keywords)
	x.again()
	if told := x.told(2); !slices.Equal(told, []string{"finished", "later"}) {
		t.Errorf("the user was told %q", told)
	}
}

// takesNoMore waits until the channel has heard that it is to end.
func (x *polling) takesNoMore() {
	x.t.Helper()
	progtest.WaitFor(x.t, "it to take no more", func() bool { return strings.Contains(x.Log(), "no more messages are taken") })
}

// TestChannelLimit: who waits for the end of a limit is told so, and answered then.
func TestChannelLimit(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	x := poll(t)
	x.say("fail limit 20")
	if told := x.told(1); !strings.HasPrefix(told[0], "[codex error] ") {
		t.Errorf("the user was told %q", told)
	}
	x.say("say later")
	if told := x.told(3); !strings.HasPrefix(told[1], "Your message waits") || told[2] != "later" {
		t.Errorf("the user was told %q", told)
	}
	x.acked(2)
}

// TestChannelQuestion: what codex asks is the reply, over a kill too, and the user's next
// message the answer.
func TestChannelQuestion(t *testing.T) {
	t.Parallel()
	x := poll(t, "CODEX_APPROVAL_POLICY=on-request")
	x.say("escalate echo ran")
	if told := x.told(1); !strings.Contains(told[0], "echo ran") {
		t.Errorf("the user was told %q", told)
	}
	x.acked(0)
	x.arrived(1)
	x.say("yes")
	if told := x.told(2); !strings.Contains(told[1], "ran") {
		t.Errorf("the user was told %q", told)
	}
	x.say("escalate echo again")
	x.told(3)
	x.Kill()
	x.again()
	x.say("no")
	told := x.told(4)
	x.say("say still here")
	for n := 5; told[len(told)-1] != "still here"; n++ { // the question is posed again
		told = x.told(n)
	}
	x.acked(len(x.handle.Inbox()) - 1)
}

// TestChannelDeleted ends when the platform has deleted its workspace.
func TestChannelDeleted(t *testing.T) {
	t.Parallel()
	for _, era := range []fakeplatform.Era{fakeplatform.JUN, fakeplatform.AUG} { // April's has no poll mode
		t.Run(era.String(), func(t *testing.T) {
			t.Parallel()
			x := pollFrom(t, fakeplatform.Start(t, era))
			x.say("say hello")
			x.told(1)
			x.handle.Delete()
			if code := x.ExitCode(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			if n := len(x.platform.Requests("POST /registry/register")); n != 1 {
				t.Errorf("registered %d times", n)
			}
		})
	}
}

// ready waits until the channel is ready, and returns what it says then.
func (x *polling) ready() (body string) {
	x.t.Helper()
	progtest.WaitFor(x.t, "it to be ready", func() bool {
		var status int
		status, body = x.fetch("/readyz")
		return status == 200
	})
	return body
}

// TestChannelHealth: probes are answered, and details are for whoever has the token.
func TestChannelHealth(t *testing.T) {
	t.Parallel()
	x := poll(t, "RUNTIME_TOKEN=a-token-of-the-suite")
	if body := x.ready(); strings.Contains(body, "checks") {
		t.Errorf("/readyz: %s", body)
	}
	if status, body := x.fetch("/healthz"); status != 200 || body != "ok\n" {
		t.Errorf("/healthz: %d %s", status, body)
	}
	if status, _ := x.fetch("/metrics"); status != 401 {
		t.Errorf("/metrics: %d", status)
	}
	open := poll(t)
	if body := open.ready(); !strings.Contains(body, open.handle.ID()+": registered") {
		t.Errorf("/readyz: %s", body)
	}
	if status, body := open.fetch("/metrics"); status != 200 || !strings.Contains(body, "molecule_codex_") {
		t.Errorf("/metrics: %d %.200s", status, body)
	}
	if status, _ := open.fetch("/.well-known/agent-card.json"); status != 404 {
		t.Errorf("the card: %d", status)
	}
}
