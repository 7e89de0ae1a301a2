package main

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

var (
	_ tasks.Runner   = recorded{}
	_ tasks.Steerer  = recorded{}
	_ tasks.Answerer = recorded{}
	_ tasks.Holder   = recorded{}
	_ tasks.Bounded  = recorded{}
	_ tasks.Bounded  = counted{}
)

// TestDoors looks at what codex is started with by each door.
func TestDoors(t *testing.T) {
	s := settings.Settings{
		WorkspaceID: "w", PlatformURL: "http://p", ConfigsDir: "/configs", WorkDir: "/workspace", DelegationSecs: 300,
	}
	for door, want := range map[string]struct{ dynamic, mcp, loaded int }{
		toolsDynamic: {18, 0, 18}, toolsMCP: {0, 1, 18}, toolsOff: {0, 0, 0},
	} {
		s.Tools = door
		app := &application{redact: logging.NewRedactor(), log: slog.New(slog.DiscardHandler)}
		var cfg executor.Config
		if err := app.offerTools(s, nil, &cfg, logging.NewRedactor()); err != nil {
			t.Fatal(err)
		}
		args := strings.Join(cfg.Child.Args, " ")
		mcp := strings.Count(args, `mcp_servers.molecule={command="`)
		if loaded := app.loadedTools(); len(cfg.Thread.DynamicTools) != want.dynamic || mcp != want.mcp || len(loaded) != want.loaded || loaded == nil {
			t.Errorf("%s: %d dynamic tools, %d MCP servers, reported %v", door, len(cfg.Thread.DynamicTools), mcp, loaded)
		}
		if mcp == 1 && (!strings.Contains(args, `CONFIGS_DIR="/configs"`) || !strings.Contains(args, `disabled_tools=["codex_bridge"]`)) {
			t.Errorf("the MCP server is started by %s", args)
		}
		app.close()
	}
	alone := &application{}
	var cfg executor.Config
	if err := alone.offerTools(settings.Settings{Tools: toolsDynamic}, nil, &cfg, nil); err != nil || cfg.Tools != nil || alone.loadedTools() != nil {
		t.Errorf("standing alone: %v, %+v", err, cfg.Tools)
	}
}

func TestToolRows(t *testing.T) {
	code := 2
	var got []platform.Event
	hide := func(s string) string { return strings.ReplaceAll(s, "hunter2", "***") }
	observe := recorded{record: func(e platform.Event) { got = append(got, e) }, redact: hide}.watch(func(agent.Event) {})
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

func TestIdentity(t *testing.T) {
	got := identity(func(name string) string { return strings.ToLower(name) })
	if len(got) != 7 || got["MODEL"] != "model" || slices.Contains([]string{got["TIER"], got["WORKSPACE_ID"]}, "") {
		t.Errorf("identity: %v", got)
	}
}
