package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// The doors by which codex gets the workspace tools.
const (
	toolsDynamic = "dynamic"
	toolsMCP     = "mcp"
	toolsOff     = "off"
)

// workspaceTools are the tools of a runtime that serves.
type workspaceTools struct {
	set      *toolset.Set
	recorder *toolset.Recorder
	redact   func(string) string
	door     string
}

// newTools makes the tools of a workspace.
func newTools(s settings.Settings, client toolset.Platform, redact *logging.Redactor, more toolset.Config) *toolset.Set {
	more.Platform, more.Workspace, more.Files, more.Identity = client, s.WorkspaceID, sendableFiles(s), identity(os.Getenv)
	more.Delegation, more.ViaInbox, more.Redact = delegation(s), s.ViaInbox, redact.String
	return toolset.New(more)
}

func delegation(s settings.Settings) time.Duration {
	return time.Duration(s.DelegationSecs) * time.Second
}

// identity is what get_runtime_identity tells: what these variables hold.
func identity(variable func(string) string) map[string]string {
	all := map[string]string{}
	for _, name := range []string{"MODEL", "MODEL_PROVIDER", "MOLECULE_MODEL", "ANTHROPIC_BASE_URL", "TIER", "WORKSPACE_ID", "ADAPTER_MODULE"} {
		all[name] = variable(name)
	}
	return all
}

// offerTools gives codex the workspace tools, if this is a workspace.
func (app *application) offerTools(s settings.Settings, environ []string, cfg *executor.Config, redact *logging.Redactor) error {
	if !s.InWorkspace() {
		return nil
	}
	client := app.workspaceClient(s)
	recorder := toolset.NewRecorder(client, redact.String, app.log)
	may := func(action string) bool { return app.setup.Config().RBAC.Allows(action) }
	set := newTools(s, ownCard{app.telling(s), func(card any) { app.member.own.Store(&card) }}, redact, toolset.Config{
		Card: func() any { return app.member.card() }, May: may, Log: recorder.Record, Logger: app.log,
	})
	app.tools = &workspaceTools{set: set, recorder: recorder, redact: redact.String, door: s.Tools}
	app.goOn(recorder.Run)
	switch s.Tools {
	case toolsDynamic:
		cfg.Tools, cfg.Thread.DynamicTools = dynamicDoor{set}, dynamicTools(set)
		cfg.ToolTimeout = delegation(s) + 10*time.Minute
	case toolsMCP:
		server, err := mcpDoor(s, environ)
		if err != nil {
			return err
		}
		cfg.Child.Args = append(cfg.Child.Args, server.Overrides()...)
		app.tellByMCP(cfg)
	}
	return nil
}

// An ownCard is the platform as the tools see it. It remembers the card that the agent
// has given itself: each registration brings a card, and must not take that one back.
type ownCard struct {
	teller
	remember func(card any)
}

// UpdateCard implements [toolset.Platform].
func (o ownCard) UpdateCard(ctx context.Context, card any) error {
	err := o.Client.UpdateCard(ctx, card)
	if err == nil {
		o.remember(card)
	}
	return err
}

// runner is the executor, as the tasks see it.
func (app *application) runner() turner {
	if app.tools == nil {
		return app.executor
	}
	return recorded{app.executor, app.tools.recorder.Record, app.tools.redact}
}

// loadedTools are what the platform is told that codex can call; nil standing alone.
func (app *application) loadedTools() []string {
	switch {
	case app.tools == nil:
		return nil
	case app.tools.door == toolsOff:
		return []string{}
	}
	return app.tools.set.Names()
}

// A dynamicDoor is the tools as the executor calls them.
type dynamicDoor struct{ set *toolset.Set }

// Call implements [executor.ToolCaller].
func (d dynamicDoor) Call(ctx context.Context, c agent.ToolCall) agent.ToolResult {
	result := d.set.Call(ctx, toolset.Call{Tool: c.Tool, Arguments: c.Arguments, Thread: c.Thread, Turn: c.Turn})
	return agent.ToolResult{Text: result.Text, Failed: result.Failed}
}

func dynamicTools(set *toolset.Set) []appserver.DynamicTool {
	definitions := set.Definitions()
	all := make([]appserver.DynamicTool, 0, len(definitions))
	for _, d := range definitions {
		all = append(all, appserver.DynamicTool{Type: "function", Name: d.Name, Description: d.Description, InputSchema: d.Schema})
	}
	return all
}

// mcpDoor is the MCP server that codex starts: this program. It gets no token, but
// learns where that stands, and reads it for each call. Of the secrets that codex has
// in its environment it gets those that it has to keep out of memories.
func mcpDoor(s settings.Settings, environ []string) (adapter.MCPServer, error) {
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
		Name: toolset.Server, Command: self, Args: []string{"mcp"}, Env: env, Pass: adapter.CredentialNames(environ),
		Start: 30 * time.Second, Call: delegation(s) + 10*time.Minute,
		Disabled: []string{bridge.ToolName}, // codex is not to give tasks to itself
	}, nil
}

// workspaceTools are those that runtime mcp offers; nil outside of a workspace.
func (p *program) workspaceTools() (set *toolset.Set, end func(), err error) {
	s, _, err := settings.Load(p.environ)
	if !s.InWorkspace() { // other settings may be those of another machine
		return nil, func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	redact := secrets.Of(s, p.environ)
	client := secrets.PlatformClient(s, redact)
	log := logging.New(p.stderr, slog.LevelWarn, redact)
	recorder := toolset.NewRecorder(client, redact.String, log)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		recorder.Run(ctx)
	}()
	may := func(action string) bool { // what cannot be read grants nothing
		config, _, err := adapter.ReadConfig(s.ConfigFile)
		return err == nil && config.RBAC.Allows(action)
	}
	return newTools(s, client, redact, toolset.Config{May: may, Log: recorder.Record, Logger: log}), func() {
		cancel()
		<-done
		_ = client.Close()
	}, nil
}
