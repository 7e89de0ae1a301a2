package e2e

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
)

// TestLateReply has callers go away before they are answered.
func TestLateReply(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t)
	hang := make(chan struct{})
	leave := func(body string) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, _ = w.raw(ctx, body)
		}()
		n := len(w.Model.Requests())
		w.modelAsked(n + 1)
		cancel()
		<-done
	}
	close(hang)
	leave(`{"id":1,"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"l1","parts":[{"kind":"text","text":"wait 1s\nsay late"}],"role":"user"}}}`)
	w.toldOnce("late")
	// That of another agent is not for the user.
	leave(`{"id":1,"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"l2","metadata":{"delegation_id":"l2"},"parts":[{"kind":"text","text":"wait 1s\nsay peer"}],"role":"user"}}}`)
	if text, _ := w.ask(object{"messageId": "l2", "metadata": object{"delegation_id": "l2"}, "parts": []object{textPart("wait 1s\nsay peer")}, "role": "user"}, nil); text != "peer" {
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
	w.mu.Lock()
	w.refuse = http.StatusServiceUnavailable
	w.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = w.raw(ctx, `{"id":1,"jsonrpc":"2.0","method":"message/send","params":{"message":{"messageId":"s1","parts":[{"kind":"text","text":"wait 500ms\nsay kept"}],"role":"user"}}}`)
	}()
	w.modelAsked(1)
	cancel()
	<-done
	progtest.WaitFor(t, "the reply to be tried", func() bool { return strings.Contains(w.Log(), "could not be given a late reply") })
	w.mu.Lock()
	w.refuse = 0
	w.mu.Unlock()
	w.again()
	w.toldOnce("kept")
}
