package executor

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// TestGoingOnForPeers: what stands in the place of the user's words after a summary does not make
// another agent's message the user's.
func TestGoingOnForPeers(t *testing.T) {
	for peer, want := range map[bool]string{false: "my last message", true: "is not your user's"} {
		j := &job{Job: Job{Peer: peer, Input: []agent.Input{agent.Text("x")}}, goOn: true}
		if got := j.input()[0].Text; !strings.Contains(got, want) || strings.Contains(got, "my last") == peer || !strings.HasSuffix(got, goOn) {
			t.Errorf("peer %t: %s", peer, got)
		}
	}
}
