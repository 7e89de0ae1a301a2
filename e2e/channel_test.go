package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// polling is the program as a workspace that asks for its messages.
type polling struct {
	*program
	platform *fakeplatform.Platform
	handle   *fakeplatform.Handle
}

// poll starts a platform of the newer era with a workspace, and a channel for that.
func poll(t *testing.T, extra ...string) *polling {
	t.Helper()
	return pollFrom(t, fakeplatform.Start(t, fakeplatform.AUG), extra...)
}

func pollFrom(t *testing.T, p *fakeplatform.Platform, extra ...string) *polling {
	t.Helper()
	x := &polling{platform: p}
	x.handle = x.platform.Add(fakeplatform.Workspace{Name: "Ada", Poll: true})
	x.launch(t, []string{"channel"}, extra...)
	x.AwaitListening()
	return x
}

// launch starts the program for the workspace, and does not wait.
func (x *polling) launch(t *testing.T, args []string, extra ...string) {
	t.Helper()
	model := modeltest.Start(t, fakemodel.Keywords)
	settings := append([]string{
		"OPENAI_BASE_URL=" + model.BaseURL(), "OPENAI_API_KEY=key-of-the-e2e-suite", "RUNTIME_LOG=debug", "CHANNEL_POLL_INTERVAL=50ms",
		"WORKSPACE_ID=" + x.handle.ID(), "PLATFORM_URL=" + x.platform.URL, "MOLECULE_WORKSPACE_TOKEN=" + x.handle.Token(),
	}, extra...)
	x.program = &program{Program: progtest.Launch(t, binary, args, settings...), Model: model, t: t}
}

// say is the user on the canvas.
func (x *polling) say(text string) {
	x.t.Helper()
	if reply, err := x.handle.Say(x.t.Context(), text); err != nil || reply.Status != 200 {
		x.t.Fatalf("%d %s, %v", reply.Status, reply.Body, err)
	}
}

// told waits until the user was told n things, and returns them.
func (x *polling) told(n int) []string {
	x.t.Helper()
	var out []string
	progtest.WaitFor(x.t, fmt.Sprintf("the user to be told %d things", n), func() bool {
		out = nil
		for _, notice := range x.handle.Notices() {
			out = append(out, notice.Message)
		}
		return len(out) >= n
	})
	return out
}

// arrived waits until the program knows that the user has got so many replies: an answer in words
// counts from then on.
func (x *polling) arrived(n int) {
	x.t.Helper()
	progtest.WaitFor(x.t, "the program to know that a reply has arrived", func() bool { return strings.Count(x.Log(), `"a reply was sent"`) >= n })
}

// acked waits until the workspace has acknowledged all of its rows but notes.
func (x *polling) acked(row int) {
	x.t.Helper()
	want := x.handle.Inbox()[row].Seq
	progtest.WaitFor(x.t, fmt.Sprintf("row %d to be acknowledged", want), func() bool { return x.handle.Acked() >= want })
}

// TestChannel has the user talk to a workspace that nobody can reach.
func TestChannel(t *testing.T) {
	t.Parallel()
	x := poll(t)
	x.say("remember teal-7")
	x.told(1)
	x.say("recall")
	if told := x.told(2); !strings.Contains(told[1], "teal-7") {
		t.Errorf("the user was told %q", told)
	}
	x.acked(2) // behind it are the reply to it, and that is our own
	if x.handle.Status() != "online" || len(x.handle.Beats()) == 0 {
		t.Errorf("the workspace is %s, with %d heartbeats", x.handle.Status(), len(x.handle.Beats()))
	}
	progtest.WaitFor(t, "all rows to be acknowledged", func() bool { return x.handle.Acked() >= x.handle.Inbox()[3].Seq })
}
