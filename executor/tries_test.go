package executor

import (
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// TestTriesAsTheyAre: what a message costs the agent at the most.
func TestTriesAsTheyAre(t *testing.T) {
	words := agent.Text("look")
	for want, input := range map[int][]agent.Input{12: {words}, 3: {words, {Type: "localImage", Path: "/picture.png"}}} {
		j := &job{Job: Job{Input: input}}
		if n := j.mostVanished(); n != want {
			t.Errorf("%v is tried %d times, want %d", input, n, want)
		}
	}
}
