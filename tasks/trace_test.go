package tasks_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// TestToolTraceOfCalls: what a tool was called with and what came of it are seen, whichever
// door it came by, and secrets are not.
func TestToolTraceOfCalls(t *testing.T) {
	d := newDesk(t, func(c *tasks.Config) {
		c.Workspace.Redact = func(s string) string { return strings.ReplaceAll(s, "secret", "[REDACTED]") }
	})
	c := d.call("m1", "", nil, "hi")
	j := d.r.next(t)
	begun(j)
	arguments := json.RawMessage(`{"task":"a secret"}`)
	for _, item := range []agent.Item{
		{Kind: agent.KindTool, Tool: "t", Arguments: arguments, Output: "the secret\nis out"},
		{Kind: agent.KindMCP, Server: "s", Tool: "t", Arguments: arguments, Output: "the secret"},
		{Kind: agent.KindMCP, Server: "s", Tool: "t", Arguments: arguments, Output: "no secret", Error: "no secret"},
		{Kind: agent.KindTool, Tool: "t"},
	} {
		j.observe(agent.ItemCompleted{Item: item})
	}
	j.observe(finished("hello"))
	c.wait(t)
	trace, _ := reply.Of(c.task).Metadata["tool_trace"].([]any)
	const input = `{"task":"a [REDACTED]"}`
	want := []any{
		map[string]any{"tool": "mcp__molecule__t", "input": input, "output_preview": "the [REDACTED]\nis out"},
		map[string]any{"tool": "mcp__s__t", "input": input, "output_preview": "the [REDACTED]"},
		map[string]any{"tool": "mcp__s__t", "input": input, "output_preview": "no [REDACTED]"},
		map[string]any{"tool": "mcp__molecule__t", "input": "", "output_preview": ""},
	}
	if diff := cmp.Diff(want, trace); diff != "" {
		t.Error(diff)
	}
	c.receipt.Settle(true)
}
