package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestLargeGitFile: what a command leaves in the place of a folder's repository does not hold
// up codex for the others.
func TestLargeGitFile(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.send("m1", "c1", "run mkdir -p sub/deep; truncate -s 4G sub/.git")
	codex := p.Codex()
	m := message("m2", "c2", "say hello")
	m["metadata"] = object{"cwd": "sub/deep"}
	task := p.task(p.call("SendMessage", object{"message": m}))
	if said := fmt.Sprint(task["status"]); state(task) != "TASK_STATE_REJECTED" || !strings.Contains(said, "sub/.git is no repository's") {
		t.Errorf("%v", said)
	}
	if now := p.Codex(); now != codex {
		t.Errorf("codex was %d and is %d", codex, now)
	}
}
