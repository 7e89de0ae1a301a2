package fakemodel_test

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
)

// TestSocket: codex asks by a WebSocket and says only what is new, and scripts see no difference.
func TestSocket(t *testing.T) {
	c := start(t, fakemodel.Keywords, "-c", "model_providers.fake.supports_websockets=true")
	thread := c.thread()
	for _, say := range []string{"say one", "run echo two", "say three"} {
		c.run(thread, say)
	}
	for _, r := range c.model.Requests() {
		t.Log(r.Seq, r.Socket, r.Sent, len(r.Body), r.LastUserText(), r.Outcome, len(r.UserTexts()))
		if !r.Socket || strings.Contains(r.LastUserText(), "three") && len(r.UserTexts()) != 3 {
			t.Errorf("request %d: by a socket %v, of %d texts", r.Seq, r.Socket, len(r.UserTexts()))
		}
	}
	for n, v := range c.model.Requests()[0].Headers {
		t.Log(n, v)
	}
}
