package prompt

import (
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
)

// TestMeasuredBeforeFramed: of a message of another agent that is too long nothing is made.
func TestMeasuredBeforeFramed(t *testing.T) {
	half := strings.Repeat("\ufdfa", longestText/2+1)
	p, m := &Prompt{}, a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(half), a2a.NewTextPart(half))
	if err := p.Compose(m, origin.Sender{Kind: origin.Peer}, nil); err == nil || !strings.Contains(err.Error(), "codex takes at most") {
		t.Errorf("it is taken: %v", err)
	}
	if len(p.Input) != 2 || p.Input[0].Text != half || p.Text != "" {
		t.Errorf("%d bytes are made of it, and %d", len(p.Input[0].Text), len(p.Text))
	}
}
