package codextest

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// ExecSession has codex exec begin a session, as programs do that run codex for each
// message, and returns its id.
func ExecSession(tb testing.TB, bin, dir string, env, args []string, prompt string) string {
	tb.Helper()
	args = append(append([]string{"exec", "--json", "--skip-git-repo-check"}, args...), prompt)
	cmd := exec.CommandContext(tb.Context(), bin, args...)
	cmd.Env, cmd.Dir = env, dir
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("codex exec: %v: %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		var event struct {
			Type   string `json:"type"`
			Thread string `json:"thread_id"`
		}
		if json.Unmarshal([]byte(line), &event) == nil && event.Type == "thread.started" {
			return event.Thread
		}
	}
	tb.Fatalf("codex exec says nothing of its thread: %s", out)
	return ""
}
