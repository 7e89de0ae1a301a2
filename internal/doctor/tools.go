package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextools"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// toolsLimit is what each door gets to show the tools.
const toolsLimit = 30 * time.Second

// toolChecks try both doors of the workspace tools. Only the one in use can fail.
func toolChecks(c Case, at scratch) []preflight.Check {
	s := c.Settings
	if !s.InWorkspace() {
		return nil
	}
	return []preflight.Check{
		toolCheck("tools (dynamic)", s.Tools == settings.ToolsDynamic, "set RUNTIME_TOOLS=mcp", func(ctx context.Context) (int, error) {
			return tryDynamic(ctx, c, at)
		}),
		toolCheck("tools (mcp)", s.Tools == settings.ToolsMCP, "set RUNTIME_TOOLS=dynamic", func(ctx context.Context) (int, error) {
			return tryMCP(ctx, c)
		}),
	}
}

// spaceToolChecks try the door of a channel. The tools of its workspaces are the same.
func spaceToolChecks(c Case, at scratch) []preflight.Check {
	if c.Settings.Tools == settings.ToolsOff {
		return nil
	}
	c.Settings.WorkspaceID = c.Settings.Spaces[0].ID
	return []preflight.Check{toolCheck("tools (dynamic)", true, "set RUNTIME_TOOLS=off", func(ctx context.Context) (int, error) {
		return tryDynamic(ctx, c, at)
	})}
}

// hostToolCheck tries runtime mcp as an MCP host starts it.
func hostToolCheck(c Case) preflight.Check {
	s := c.Settings
	wanted := []string{bridge.ToolName}
	if s.InWorkspace() || len(s.Spaces) > 0 {
		wanted = append(wanted, toolNames(s)...)
	}
	return toolCheck("tools (mcp)", true, "run runtime mcp yourself: it says why", func(ctx context.Context) (int, error) {
		self, err := os.Executable()
		if err != nil {
			return 0, err
		}
		return listMCP(ctx, adapter.MCPServer{Command: self, Args: []string{"mcp", "--inbox=beside"}, Env: c.Environ}, c.Version, wanted)
	})
}

func toolCheck(name string, used bool, fix string, try func(context.Context) (int, error)) preflight.Check {
	return preflight.Check{Name: name, Run: func(ctx context.Context) preflight.Result {
		ctx, cancel := context.WithTimeout(ctx, toolsLimit)
		defer cancel()
		n, err := try(ctx)
		switch {
		case err == nil && used:
			return preflight.Result{Status: preflight.OK, Detail: fmt.Sprintf("%d tools, in use", n)}
		case err == nil:
			return preflight.Result{Status: preflight.OK, Detail: fmt.Sprintf("%d tools, not in use (RUNTIME_TOOLS)", n)}
		case used:
			return preflight.Result{Status: preflight.Fail, Detail: firstLine(err), Fix: fix}
		}
		return preflight.Result{Status: preflight.Warn, Detail: "not in use, and would not work: " + firstLine(err)}
	}}
}

// theTools are the tools to be shown; they are not called.
func theTools(s settings.Settings) *toolset.Set {
	return codextools.New(s, secrets.PlatformClient(s, logging.NewRedactor()), logging.NewRedactor(), toolset.Config{})
}

// toolNames are their names in the protocol of MCP.
func toolNames(s settings.Settings) (all []string) {
	for _, d := range theTools(s).Definitions() {
		all = append(all, d.Name)
	}
	return all
}

// tryMCP starts the MCP server as codex would.
func tryMCP(ctx context.Context, c Case) (int, error) {
	server, err := codextools.Server(c.Settings, nil)
	if err != nil {
		return 0, err
	}
	for _, name := range []string{"PATH", "HOME"} {
		server.Env = append(server.Env, name+"="+settings.Value(c.Environ, name))
	}
	return listMCP(ctx, server, c.Version, toolNames(c.Settings))
}

// listMCP has an MCP server list its tools.
func listMCP(ctx context.Context, server adapter.MCPServer, version string, wanted []string) (n int, err error) {
	cmd := exec.CommandContext(ctx, server.Command, server.Args...)
	cmd.Env = server.Env
	client := mcp.NewClient(&mcp.Implementation{Name: "molecule-codex-runtime-doctor", Version: version}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		return 0, err
	}
	offered := map[string]bool{}
	for _, tool := range listed.Tools {
		offered[tool.Name] = true
	}
	for _, name := range wanted {
		if !offered[name] {
			return 0, fmt.Errorf("the MCP server does not list %s", name)
		}
	}
	return len(wanted), nil
}
