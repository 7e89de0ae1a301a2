package e2e

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
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
