package e2e

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// leave posts a message whose turn waits at the gate, and goes away. The turn goes on when
// the program knows that nobody waits for it.
func (w *workspace) leave(g *gate, body string) {
	w.t.Helper()
	asked, gone := len(w.Model.Requests()), w.gone()
	ctx, cancel := context.WithCancel(w.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = w.raw(ctx, body)
	}()
	w.modelAsked(asked + 1)
	cancel()
	<-done
	progtest.WaitFor(w.t, "the program to miss its caller", func() bool { return w.gone() > gone })
	g.pass(w.t)
}

// gone is how many callers the program has seen go away.
func (w *workspace) gone() int {
	return strings.Count(w.Log(), `"call":"SendMessage","err":"wait for the task: context canceled"`)
}

// TestLateReply has callers go away before they are answered.
func TestLateReply(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t)
	g := newGate()
	w.Model.SetScript(g.script)
	w.leave(g, `{"id":1,"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"l1","parts":[{"kind":"text","text":"slowly\nsay late"}],"role":"user"}}}`)
	w.toldOnce("late")
	// That of another agent is not for the user.
	w.leave(g, `{"id":1,"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"l2","metadata":{"delegation_id":"l2"},"parts":[{"kind":"text","text":"slowly\nsay peer"}],"role":"user"}}}`)
	if text, _ := w.ask(object{"messageId": "l2", "metadata": object{"delegation_id": "l2"}, "parts": []object{textPart("slowly\nsay peer")}, "role": "user"}, nil); text != "peer" {
		t.Errorf("the agent that asks again gets %q", text)
	}
	w.toldOnce("late")
	w.again()
	w.toldOnce("late")
}

// TestLateReplySurvives kills the program while the platform takes nothing.
func TestLateReplySurvives(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t)
	g := newGate()
	w.Model.SetScript(g.script)
	w.mu.Lock()
	w.refuse = http.StatusServiceUnavailable
	w.mu.Unlock()
	w.leave(g, `{"id":1,"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"s1","parts":[{"kind":"text","text":"slowly\nsay kept"}],"role":"user"}}}`)
	progtest.WaitFor(t, "the reply to be tried", func() bool { return strings.Contains(w.Log(), "could not be given a late reply") })
	w.mu.Lock()
	w.refuse = 0
	w.mu.Unlock()
	w.again()
	w.toldOnce("kept")
}

// TestYesToALateReply: what the user is told late of a webhook's turn is something beside; and what
// their own turn asks when they have left counts once it has reached them, by that yes.
func TestYesToALateReply(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t, "CODEX_APPROVAL_POLICY=on-request", "CODEX_SANDBOX=workspace-write")
	g := newGate()
	w.Model.SetScript(g.script)
	outside := codextest.Dir(t, "outside")
	isThere := func(name string) bool { _, err := os.Lstat(filepath.Join(outside, name)); return err == nil }
	body := func(id, context string, meta object, text string) string {
		m := object{"messageId": id, "role": "user", "parts": []object{textPart(text)}}
		if context != "" {
			m["contextId"] = context
		}
		raw, _ := json.Marshal(object{"id": 1, "jsonrpc": "2.0", "method": "message/send", "params": object{"message": m, "metadata": meta}})
		return string(raw)
	}
	user := object{"source": "canvas_user"}
	yes := func(id string) string {
		text, _ := w.ask(object{"messageId": id, "role": "user", "parts": []object{textPart("yes")}}, user)
		return text
	}
	w.leave(g, body("m1", "", user, "slowly\n"+wants(object{"cmd": "touch " + outside + "/late"})))
	progtest.WaitFor(t, "the question", func() bool { return strings.Contains(w.Log(), `"the user was given a late reply"`) })
	if said := yes("y1"); strings.Contains(said, "was not taken") || !isThere("late") {
		t.Errorf("the user is answered %q", said)
	}
	if said, _ := w.ask(object{"messageId": "m2", "role": "user", "parts": []object{textPart(wants(object{"cmd": "touch " + outside + "/evil"}))}}, user); !strings.Contains(said, "codex asks") {
		t.Fatalf("the user is asked %q", said)
	}
	w.leave(g, body("w1", "issue-0", object{"source": "github"}, "slowly\nsay Shall I close the issue? Answer yes or no."))
	progtest.WaitFor(t, "the late reply", func() bool { return strings.Count(w.Log(), `"the user was given a late reply"`) == 2 })
	if said := yes("y2"); !strings.Contains(said, "was not taken") || isThere("evil") {
		t.Errorf("the user is answered %q; a yes to a webhook's turn was leave for a command: %v", said, isThere("evil"))
	}
	if yes("y3"); !isThere("evil") {
		t.Error("the yes to what was posed again is none")
	}
}
