package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A neighbour is another agent that polls.
type neighbour struct {
	*fakeplatform.Handle
	t      *testing.T
	client *platform.Client
}

func (x *polling) neighbour(name string) *neighbour {
	h := x.platform.Add(fakeplatform.Workspace{Name: name, Poll: true, Status: "online"})
	n := &neighbour{h, x.t, platform.New(platform.Config{URL: x.platform.URL, Workspace: h.ID(), Token: platform.Token{Value: h.Token()}})}
	x.t.Cleanup(func() { _ = n.client.Close() })
	return n
}

// send sends a message to another workspace.
func (n *neighbour) send(to *fakeplatform.Handle, id, text string, meta map[string]any) {
	n.t.Helper()
	if _, err := n.client.Send(n.t.Context(), to.ID(), platform.Message{ID: id, Text: text, Metadata: meta}); err != nil {
		n.t.Fatal(err)
	}
}

// A received is a message in the inbox of a neighbour.
type received struct {
	From, Text string
	Marked     bool
}

func (n *neighbour) inbox() (out []received) {
	for _, r := range n.Rows() {
		var body struct {
			Params struct {
				Message  struct{ Parts []struct{ Text string } }
				Metadata map[string]any
			}
		}
		if json.Unmarshal(r.RequestBody, &body) == nil && r.Method == "message/send" {
			out = append(out, received{r.Source, body.Params.Message.Parts[0].Text, body.Params.Metadata["molecule_channel_reply"] == true})
		}
	}
	return out
}

// got waits until n messages have come.
func (n *neighbour) got(count int) []received {
	n.t.Helper()
	progtest.WaitFor(n.t, n.Name()+" to be answered", func() bool { return len(n.inbox()) >= count })
	return n.inbox()
}

// Name is for messages of tests.
func (n *neighbour) Name() string { return "a neighbour" }

// modelAsked waits until the model has been asked n times.
func (x *polling) modelAsked(n int) {
	x.t.Helper()
	progtest.WaitFor(x.t, "the model to be asked", func() bool { return len(x.Model.Requests()) >= n })
}

// TestChannelPeers: a peer is answered in its inbox, with the mark of a reply; its own
// replies are read and not answered, and neither is what comes without end.
func TestChannelPeers(t *testing.T) {
	t.Parallel()
	x := poll(t)
	bob := x.neighbour("Bob")
	bob.send(x.handle, "b1", "say pong", nil)
	if got := bob.got(1); got[0] != (received{x.handle.ID(), "pong", true}) {
		t.Errorf("Bob got %+v", got)
	}
	bob.send(x.handle, "b2", "say a reply", map[string]any{"molecule_channel_reply": true})
	x.modelAsked(2)
	for n := range 9 { // with the two before, three too many
		bob.send(x.handle, "more-"+string(rune('a'+n)), "say more", nil)
	}
	x.modelAsked(11)
	if got := bob.got(7); len(got) != 7 {
		t.Errorf("Bob got %d messages: %+v", len(got), got)
	}
	x.say("say hello")
	x.told(1)
	bob.send(x.handle, "b3", "say once more", nil)
	if got := bob.got(8); got[7].Text != "once more" {
		t.Errorf("after the user has spoken Bob got %+v", got)
	}
	x.acked(len(x.handle.Inbox()) - 1)
}

// TestChannelHistory: what a peer has got for an answer stands in the history of both.
func TestChannelHistory(t *testing.T) {
	t.Parallel()
	x := poll(t)
	bob := x.neighbour("Bob")
	bob.send(x.handle, "b1", "say pong", nil)
	bob.got(1)
	progtest.WaitFor(t, "the row about the answer", func() bool {
		return slices.ContainsFunc(x.handle.Rows(), func(r fakeplatform.Row) bool { return r.Type == "a2a_send" && r.Target == bob.ID() })
	})
	x.say(fmt.Sprintf(`call chat_history {"peer_id":%q}`, bob.ID()))
	told := x.told(1)[0]
	var said []struct{ From, Text string }
	if err := json.Unmarshal([]byte(told), &said); err != nil || len(said) != 2 {
		t.Fatalf("%v: %s", err, told)
	}
	if said[0].From != "peer" || !strings.Contains(said[0].Text, "say pong") || said[1].From != "you" || said[1].Text != "pong" {
		t.Errorf("the history is %+v", said)
	}
}

// TestChannelKinds: notes of our own and rows of kinds that are not known are drained.
func TestChannelKinds(t *testing.T) {
	t.Parallel()
	x := poll(t)
	if _, err := x.handle.Send(t.Context(), `{"method":"tasks/strange","params":{"message":{"role":"user","parts":[{"kind":"text","text":"say strange"}]}}}`); err != nil {
		t.Fatal(err)
	}
	if _, err := x.handle.Send(t.Context(), `{"method":"message/send","params":{"message":{"role":"user","parts":[{"kind":"text","text":"say one"},{"type":"text","text":"two"}]}}}`); err != nil {
		t.Fatal(err)
	}
	x.told(1)
	x.acked(2)
	if !slices.ContainsFunc(x.Model.Requests(), func(r fakemodel.Recorded) bool { return strings.HasSuffix(r.LastUserText(), "say one\ntwo") }) {
		t.Error("the parts of the message are not joined by newlines")
	}
	if told := x.told(1); len(told) != 1 {
		t.Errorf("the user was told %q", told)
	}
	if !strings.Contains(x.Log(), "a row of the inbox cannot be answered") {
		t.Error("nobody was warned of the strange row")
	}
}

// TestChannelFailure: what goes wrong is said, and the conversation goes on.
func TestChannelFailure(t *testing.T) {
	t.Parallel()
	x := poll(t)
	x.say("remember blue-3")
	x.told(1)
	x.say("fail 400")
	if told := x.told(2); !strings.HasPrefix(told[1], "[codex error] ") || !strings.HasSuffix(told[1], "(codex exec failed: exit=1)") {
		t.Errorf("the user was told %q", told[1])
	}
	x.say("recall")
	if told := x.told(3); !strings.Contains(told[2], "blue-3") {
		t.Errorf("the user was told %q", told[2])
	}
}

// TestChannelUpload: a file is there before the message that names it.
func TestChannelUpload(t *testing.T) {
	t.Parallel()
	x := poll(t)
	x.platform.Behave("GET /workspaces/*/pending-uploads/*", fakeplatform.Refuse(503).Times(1))
	id := x.handle.AddPending("plan.txt", "text/plain", []byte("the plan"))
	if _, err := x.handle.Send(t.Context(), `{"method":"message/send","params":{"message":{"role":"user","parts":[{"kind":"text","text":"say got it"},
		{"kind":"file","file":{"uri":"platform-pending:`+x.handle.ID()+`/`+id+`","name":"my plan.txt","mimeType":"text/plain"}}]}}}`); err != nil {
		t.Fatal(err)
	}
	x.told(1)
	got := x.Model.Requests()[0].LastUserText()
	_, path, _ := strings.Cut(got, " at ")
	if content, err := os.ReadFile(path); err != nil || string(content) != "the plan" {
		t.Errorf("codex got %q: %q, %v", got, content, err)
	}
	if !x.handle.PendingAcked(id) {
		t.Error("the platform does not know that the file was fetched")
	}
}

// TestChannelSteer: what the user says while a turn runs goes into it, and is answered
// with it, once.
func TestChannelSteer(t *testing.T) {
	t.Parallel()
	x := poll(t)
	x.say("hang") // until it is steered
	x.modelAsked(1)
	x.say("say second")
	x.acked(1)
	if told := x.told(1); len(told) != 1 {
		t.Errorf("the user was told %q", told)
	}
}

// TestChannelOldPlatform reads the inbox of a platform that knows no cursors.
func TestChannelOldPlatform(t *testing.T) {
	t.Parallel()
	x := &polling{platform: fakeplatform.Start(t, fakeplatform.APR)}
	x.handle = x.platform.Add(fakeplatform.Workspace{Name: "Ada", URL: "http://127.0.0.1:1", Status: "online"})
	say := func(text string) {
		if reply, err := x.handle.Say(t.Context(), text); err != nil || reply.Status != 502 {
			t.Fatalf("%d %s, %v", reply.Status, reply.Body, err)
		}
	}
	say("remember red-9")
	x.launch(t, []string{"channel"})
	x.AwaitListening()
	x.told(1)
	say("recall")
	if told := x.told(2); !strings.Contains(told[1], "red-9") {
		t.Errorf("the user was told %q", told)
	}
	say("say third")
	if told := x.told(3); len(told) != 3 {
		t.Errorf("the user was told %q", told)
	}
}

// TestChannelNoPolling: an April platform is told from one that does not answer, once.
func TestChannelNoPolling(t *testing.T) {
	t.Parallel()
	x := &polling{platform: fakeplatform.Start(t, fakeplatform.APR)}
	x.handle = x.platform.Add(fakeplatform.Workspace{Name: "Ada", Status: "awaiting_agent"})
	x.launch(t, []string{"channel"})
	x.AwaitListening()
	const said = "this platform has no poll mode"
	progtest.WaitFor(t, "the workspace to be degraded", func() bool { return x.handle.Status() == "degraded" })
	if beats := x.handle.Beats(); !strings.Contains(beats[len(beats)-1].SampleError, said) {
		t.Errorf("the platform was told %+v", beats)
	}
	if status, body := x.fetch("/readyz"); status != 503 || !strings.Contains(body, said) {
		t.Errorf("/readyz: %d %s", status, body)
	}
	if log := x.Log(); strings.Count(log, said) == 0 || strings.Contains(log, "tried again") {
		t.Errorf("the log:\n%s", log)
	}
}

// TestChannelFreshState: what an earlier channel has acknowledged is not answered by one
// with a state directory of its own.
func TestChannelFreshState(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	x := poll(t)
	for n, text := range []string{"one", "two", "three"} {
		x.say("say " + text)
		x.told(n + 1)
	}
	x.acked(len(x.handle.Inbox()) - 1)
	x.Kill()
	x.say("say four")
	x.launch(t, []string{"channel"})
	x.AwaitListening()
	x.told(4)
	x.acked(len(x.handle.Inbox()) - 1)
	if told := x.told(4); len(told) != 4 || told[3] != "four" {
		t.Errorf("the user was told %q", told)
	}
	if n := len(x.Model.Requests()); n != 1 {
		t.Errorf("the second channel's model was asked %d times", n)
	}
}

// TestChannelForgottenCursor: the platform has pruned what we have read.
func TestChannelForgottenCursor(t *testing.T) {
	t.Parallel()
	x := poll(t)
	x.say("remember gold-1")
	x.told(1)
	x.acked(0)
	x.handle.Forget(0)
	x.say("recall")
	if told := x.told(2); len(told) != 2 || !strings.Contains(told[1], "gold-1") {
		t.Errorf("the user was told %q", told)
	}
}
