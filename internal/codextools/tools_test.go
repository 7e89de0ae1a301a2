package codextools

import (
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// TestDoors looks at what codex is started with by each door.
func TestDoors(t *testing.T) {
	s := settings.Settings{
		WorkspaceID: "w", PlatformURL: "http://p", ConfigsDir: "/configs", WorkDir: "/workspace", DelegationSecs: 300,
	}
	for door, want := range map[string]struct{ dynamic, mcp, loaded int }{
		settings.ToolsDynamic: {18, 0, 18}, settings.ToolsMCP: {0, 1, 18}, settings.ToolsOff: {0, 0, 0},
	} {
		s.Tools = door
		set := New(s, nil, logging.NewRedactor(), toolset.Config{})
		opened, err := DoorOf(s, nil, set)
		if err != nil {
			t.Fatal(err)
		}
		var cfg codex.Config
		opened.Open(&cfg, Caller{set}, func() {})
		args := strings.Join(cfg.Child.Args, " ")
		mcp := strings.Count(args, `mcp_servers.molecule={command="`)
		if loaded := opened.Loaded(); len(cfg.Thread.DynamicTools) != want.dynamic || mcp != want.mcp || len(loaded) != want.loaded || loaded == nil {
			t.Errorf("%s: %d dynamic tools, %d MCP servers, reported %v", door, len(cfg.Thread.DynamicTools), mcp, loaded)
		}
		if mcp == 1 && (!strings.Contains(args, `CONFIGS_DIR="/configs"`) || !strings.Contains(args, `disabled_tools=["codex_bridge"]`)) {
			t.Errorf("the MCP server is started by %s", args)
		}
	}
}

func TestIdentity(t *testing.T) {
	got := Identity(func(name string) string { return strings.ToLower(name) })
	if len(got) != 7 || got["MODEL"] != "model" || slices.Contains([]string{got["TIER"], got["WORKSPACE_ID"]}, "") {
		t.Errorf("identity: %v", got)
	}
}
