package e2e

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestLateReplyWhoseAnswerIsLost is on the canvas, and is not shown again.
func TestLateReplyWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	x := startPlaced(t, fakeplatform.AUG)
	w, g := &workspace{program: x.program}, newGate()
	x.Model.SetScript(g.script)
	x.platform.Behave("POST /workspaces/*/notify", fakeplatform.Lose())
	w.leave(g, `{"id":1,"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"m","parts":[{"text":"slowly\nsay the answer","type":"text"}],"role":"user"}}}`)
	progtest.WaitFor(t, "the reply to be settled", func() bool { return strings.Contains(x.Log(), "the user was given a late reply") })
	if told := x.handle.Notices(); len(told) != 1 || told[0].Message != "the answer" {
		t.Errorf("the user is told %+v", told)
	}
}

// TestStopAnswersNobody: calls that wait when the program stops are cut off, for the platform sends again what
// meets a broken connection, and takes for done what is answered.
func TestStopAnswersNobody(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t)
	var again atomic.Bool
	w.Model.SetScript(func(turn *fakemodel.Turn) {
		if !again.Load() {
			turn.Hang()
			return
		}
		fakemodel.Keywords(turn)
	})
	const (
		users = `{"id":1,"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"u1","parts":[{"kind":"text","text":"say to the user"}],"role":"user"}}}`
		peers = `{"id":1,"jsonrpc":"2.0","method":"message/send","params":{"metadata":{"source_workspace_id":"ws-2"},"message":{"messageId":"p1","metadata":{"delegation_id":"p1"},` +
			`"parts":[{"kind":"text","text":"say to the peer"}],"role":"user"}}}`
	)
	cut := make(chan string, 2)
	for n, body := range []string{users, peers} {
		go func() {
			_, said, err := w.raw(t.Context(), body)
			if err != nil {
				said = ""
			}
			cut <- said
		}()
		w.modelAsked(n + 1)
	}
	w.Signal(syscall.SIGTERM)
	<-w.Exited()
	for range 2 {
		if said := <-cut; said != "" {
			t.Errorf("who waits is answered %s", said)
		}
	}
	again.Store(true)
	w.Program = w.Restart()
	if _, said, err := w.raw(t.Context(), peers); err != nil || !strings.Contains(said, `"to the peer"`) {
		t.Errorf("the peer that asks again is answered %s, %v", said, err)
	}
	w.toldOnce("to the user")
}
