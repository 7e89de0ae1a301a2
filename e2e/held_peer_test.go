package e2e

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakelogin"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestLoginIsTheUsersToGive has another agent meet a missing login: it learns that it waits
// for one, none is begun for it, and the user is told. The user's own message has the link
// and the code, and after the login both are answered.
func TestLoginIsTheUsersToGive(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	issuer, model, settings := withoutLogin(t)
	x := &polling{platform: fakeplatform.Start(t, fakeplatform.AUG)}
	x.handle = x.platform.Add(fakeplatform.Workspace{Name: "Ada", Poll: true})
	settings = append(settings, "RUNTIME_LOG=debug", "CHANNEL_POLL_INTERVAL=50ms",
		"WORKSPACE_ID="+x.handle.ID(), "PLATFORM_URL="+x.platform.URL, "MOLECULE_WORKSPACE_TOKEN="+x.handle.Token())
	x.program = &program{Program: progtest.Launch(t, binary, []string{"channel"}, settings...), Model: model, t: t}
	x.AwaitListening()
	bob := x.neighbour("Bob")

	bob.send(x.handle, "b1", "say pong", nil)
	if got := bob.got(1); !strings.Contains(got[0].Text, "which the user of this agent has to give") {
		t.Errorf("Bob got %+v", got)
	}
	if told := x.told(1); !strings.Contains(told[0], "needs a login or a key") || strings.Contains(told[0], fakelogin.UserCode) {
		t.Errorf("the user was told %q", told)
	}
	if n := issuer.Codes(); n != 0 {
		t.Errorf("%d logins were begun for another agent", n)
	}
	progtest.WaitFor(t, "the platform to hear of it", func() bool {
		beats := x.handle.Beats()
		last := beats[len(beats)-1]
		return last.RuntimeState == "wedged" && strings.Contains(last.SampleError, "a message of the user's says what to do")
	})
	x.say("say hello")
	if told := x.told(2); !strings.Contains(told[1], fakelogin.UserCode) || !strings.Contains(told[1], issuer.URL+"/codex/device") {
		t.Errorf("the user was told %q, want the link and the code", told)
	}
	bob.send(x.handle, "b2", "say ping", nil)
	bob.got(2)
	issuer.Approve()
	if told := x.told(3); told[2] != "hello" {
		t.Errorf("the user was told %q", told)
	}
	var all []string
	for _, got := range bob.got(4) {
		all = append(all, got.Text)
	}
	if said := strings.Join(all, "\n"); !strings.Contains(said, "pong") || !strings.Contains(said, "ping") ||
		strings.Contains(said, fakelogin.UserCode) || strings.Contains(said, issuer.URL) {
		t.Errorf("Bob got %q", all)
	}
}
