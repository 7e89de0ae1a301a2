package codextools

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// A Door is how codex gets the tools: nothing, by each thread's dynamic tools, or by an MCP server that codex starts.
type Door struct {
	name    string // one of those of package settings
	set     *toolset.Set
	timeout time.Duration
	server  adapter.MCPServer
}

// DoorOf is the door that the settings name. It ends calls itself, long after the tools have.
func DoorOf(s settings.Settings, environ []string, set *toolset.Set) (Door, error) {
	d := Door{name: s.Tools, set: set, timeout: delegation(s) + 10*time.Minute}
	if s.Tools != settings.ToolsMCP {
		return d, nil
	}
	var err error
	d.server, err = Server(s, environ)
	return d, err
}

// Open has codex use it. caller calls the dynamic tools; said is called when the user is told something by way of
// the MCP server, which has a client of its own.
func (d Door) Open(cfg *codex.Config, caller agent.ToolCaller, said func()) {
	switch d.name {
	case settings.ToolsDynamic:
		cfg.Tools, cfg.Thread.DynamicTools, cfg.ToolTimeout = caller, Dynamic(d.set), d.timeout
	case settings.ToolsMCP:
		cfg.Child.Args = append(cfg.Child.Args, d.server.Overrides()...)
		cfg.OnItem = func(item agent.Item) { // of subagents, too
			if item.Kind == agent.KindMCP && item.Server == toolset.Server && toolset.ReachesUser(item.Tool) {
				said()
			}
		}
	}
}

// Loaded are the tools that codex can call, as the platform is told.
func (d Door) Loaded() []string {
	if d.name == settings.ToolsOff {
		return []string{}
	}
	return d.set.Names()
}

// A Caller is the tools as codex calls them.
type Caller struct{ Set *toolset.Set }

// Call implements [agent.ToolCaller].
func (d Caller) Call(ctx context.Context, c agent.ToolCall) agent.ToolResult {
	result := d.Set.Call(ctx, toolset.Call{Tool: c.Tool, Arguments: c.Arguments, Thread: c.Thread, Turn: c.Turn})
	return agent.ToolResult{Text: result.Text, Failed: result.Failed}
}

// Dynamic are the tools as a thread of codex is started with them.
func Dynamic(set *toolset.Set) []agent.Tool {
	definitions := set.Definitions()
	all := make([]agent.Tool, 0, len(definitions))
	for _, d := range definitions {
		all = append(all, agent.Tool(d))
	}
	return all
}

// Server is the MCP server that codex starts: this program. It gets no token, but
// learns where that stands, and reads it for each call. Of the secrets that codex has
// in its environment it gets those that it has to keep out of memories.
func Server(s settings.Settings, environ []string) (adapter.MCPServer, error) {
	self, err := os.Executable()
	if err != nil {
		return adapter.MCPServer{}, fmt.Errorf("RUNTIME_TOOLS=mcp: this program cannot find itself: %w (set RUNTIME_TOOLS=dynamic)", err)
	}
	env := []string{
		"WORKSPACE_ID=" + s.WorkspaceID, "PLATFORM_URL=" + s.PlatformURL, "CONFIGS_DIR=" + s.ConfigsDir,
		"WORKSPACE_CONFIG_PATH=" + s.ConfigPath, "RUNTIME_WORKDIR=" + s.WorkDir,
		"CODEX_HOME=" + s.CodexHome, "RUNTIME_STATE_DIR=" + s.StateDir,
		fmt.Sprintf("DELEGATION_TIMEOUT=%d", s.DelegationSecs), fmt.Sprintf("DELEGATION_SYNC_VIA_INBOX=%t", s.ViaInbox),
	}
	for name, value := range map[string]string{"MOLECULE_ORG_ID": s.OrgID, "MOLECULE_WORKSPACE_TOKEN_FILE": s.TokenFile, "MODEL": s.Model} {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	return adapter.MCPServer{
		Name: toolset.Server, Command: self, Args: []string{"mcp", "--inbox=turns"}, Env: env, Pass: adapter.CredentialNames(environ),
		Start: 30 * time.Second, Call: delegation(s) + 10*time.Minute,
		Disabled: []string{bridge.ToolName}, // codex is not to give tasks to itself
	}, nil
}
