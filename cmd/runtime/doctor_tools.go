package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// toolsLimit is what each door gets to show the tools.
const toolsLimit = 30 * time.Second

// toolChecks try both doors of the workspace tools. Only the one in use can fail.
func toolChecks(s settings.Settings, environ []string, at scratch) []preflight.Check {
	if !s.InWorkspace() {
		return nil
	}
	return []preflight.Check{
		toolCheck("tools (dynamic)", s.Tools == toolsDynamic, "set RUNTIME_TOOLS=mcp", func(ctx context.Context) (int, error) {
			return tryDynamic(ctx, s, environ, at)
		}),
		toolCheck("tools (mcp)", s.Tools == toolsMCP, "set RUNTIME_TOOLS=dynamic", func(ctx context.Context) (int, error) {
			return tryMCP(ctx, s)
		}),
	}
}

// spaceToolChecks try the door of a channel. The tools of its workspaces are the same.
func spaceToolChecks(s settings.Settings, environ []string, at scratch) []preflight.Check {
	if s.Tools == toolsOff {
		return nil
	}
	s.WorkspaceID = s.Spaces[0].ID
	return []preflight.Check{toolCheck("tools (dynamic)", true, "set RUNTIME_TOOLS=off", func(ctx context.Context) (int, error) {
		return tryDynamic(ctx, s, environ, at)
	})}
}

// hostToolCheck tries runtime mcp as an MCP host starts it.
func hostToolCheck(s settings.Settings, environ []string) preflight.Check {
	wanted := []string{bridge.ToolName}
	if s.InWorkspace() {
		wanted = append(wanted, toolNames(s)...)
	}
	return toolCheck("tools (mcp)", true, "run runtime mcp yourself: it says why", func(ctx context.Context) (int, error) {
		self, err := os.Executable()
		if err != nil {
			return 0, err
		}
		return listMCP(ctx, adapter.MCPServer{Command: self, Args: []string{"mcp"}, Env: environ}, wanted)
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
	return newTools(s, secrets.PlatformClient(s, logging.NewRedactor()), logging.NewRedactor(), toolset.Config{})
}

// toolNames are their names in the protocol of MCP.
func toolNames(s settings.Settings) (all []string) {
	for _, d := range theTools(s).Definitions() {
		all = append(all, d.Name)
	}
	return all
}

// tryDynamic has a codex of its own start a thread with the tools.
func tryDynamic(ctx context.Context, s settings.Settings, environ []string, at scratch) (n int, err error) {
	start, _, _, err := adapter.Look(setupConfig(s, environ, ""))
	if err != nil { // how codex would be started is not known
		return 0, err
	}
	codex, err := startForDoctor(ctx, s, start, at)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, codex.Close()) }()
	tools := dynamicTools(theTools(s))
	_, err = codex.ThreadStart(ctx, appserver.ThreadStartParams{
		Cwd: s.WorkDir, Ephemeral: true, DynamicTools: tools, Config: start.Untrusted(),
		Sandbox: appserver.SandboxMode(s.Sandbox), ApprovalPolicy: appserver.ApprovalPolicy(s.ApprovalPolicy),
	})
	return len(tools), err
}

// tryMCP starts the MCP server as codex would.
func tryMCP(ctx context.Context, s settings.Settings) (int, error) {
	door, err := mcpDoor(s, nil)
	if err != nil {
		return 0, err
	}
	door.Env = append(door.Env, "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"))
	return listMCP(ctx, door, toolNames(s))
}

// listMCP has an MCP server list its tools.
func listMCP(ctx context.Context, server adapter.MCPServer, wanted []string) (n int, err error) {
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
