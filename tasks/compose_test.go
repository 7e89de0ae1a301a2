package tasks

import (
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// TestMeasuredBeforeFramed: of a message of another agent that is too long nothing is made.
func TestMeasuredBeforeFramed(t *testing.T) {
	half := strings.Repeat("\ufdfa", longestText/2+1)
	in := &incoming{from: sender{origin: fromPeer}, message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(half), a2a.NewTextPart(half))}
	if err := in.compose(nil); err == nil || !strings.Contains(err.Error(), "codex takes at most") {
		t.Errorf("it is taken: %v", err)
	}
	if len(in.input) != 2 || in.input[0].Text != half || in.text != "" {
		t.Errorf("%d bytes are made of it, and %d", len(in.input[0].Text), len(in.text))
	}
}
