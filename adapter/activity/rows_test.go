package activity

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

func TestToolRows(t *testing.T) {
	code := 2
	var got []platform.Event
	hide := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	observe, _ := Rows{Record: func(e platform.Event) { got = append(got, e) }, Redact: hide}.Watch(executor.Job{}, "", func(agent.Event) {})
	for _, item := range []agent.Item{
		{Kind: agent.KindMessage, Text: "no tool"},
		{Kind: agent.KindCommand, Name: "commandExecution", Command: "make\n test", Status: "failed", ExitCode: &code, DurationMs: 7, Output: "not shown"},
		{Kind: agent.KindCommand, Name: "commandExecution", Command: "rm", Status: "declined"},
		{Kind: agent.KindTool, Tool: "list_peers", Arguments: json.RawMessage(`{}`), Status: "completed"},
		{Kind: agent.KindMCP, Server: "x", Tool: "y", Arguments: json.RawMessage(`{"a":1}`), Status: "failed", Error: "gone"},
		{Kind: agent.KindFileChange, Name: "fileChange", Changes: []agent.Change{{Path: "/a"}, {Path: "/b"}}, Status: "completed"},
		{Kind: agent.KindWebSearch, Name: "webSearch", Query: strings.Repeat("q", 196) + "hunter2"},
	} {
		observe(agent.ItemCompleted{Item: item})
	}
	observe(agent.TextDelta{})
	want := []platform.Event{
		{Type: "agent_log", Method: "command_execution", Summary: "command_execution: make test", Status: "error", ErrorDetail: "exit code 2", DurationMS: 7},
		{Type: "agent_log", Method: "command_execution", Summary: "command_execution: rm", Status: "error", ErrorDetail: "declined"},
		{Type: "agent_log", Method: "mcp__molecule__list_peers", Summary: "mcp__molecule__list_peers", Status: "ok"},
		{Type: "agent_log", Method: "mcp__x__y", Summary: `mcp__x__y: {"a":1}`, Status: "error", ErrorDetail: "gone"},
		{Type: "agent_log", Method: "file_change", Summary: "file_change: /a, /b", Status: "ok"},
		{Type: "agent_log", Method: "web_search", Summary: "web_search: " + strings.Repeat("q", 196) + "***", Status: "ok"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
