package main

import (
	"context"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// A way is one of the ways in which the program is put to work: whose settings count, and
// what has to hold.
type way struct {
	subject string // of the verdict; empty is a turn
	load    func(*program) (settings.Settings, []settings.Warning, bool)
	checks  func(settings.Settings, []string, scratch) []preflight.Check
}

func ways() map[string]way {
	return map[string]way{
		"serve":   {load: (*program).load, checks: serveChecks},
		"channel": {load: (*program).loadChannel, checks: channelChecks},
		"mcp":     {subject: "The MCP server", load: (*program).loadMCP, checks: mcpChecks},
	}
}

// guess says which of them an environment is for, and why. That of runtime mcp looks like
// that of a channel, so it is never guessed.
func guess(environ []string) (name, why string) {
	has := func(name string) bool { return isSet(environ, name) }
	switch {
	case has("MOLECULE_WORKSPACES"):
		return "channel", "MOLECULE_WORKSPACES is set"
	case !has("WORKSPACE_ID") || !has("PLATFORM_URL"):
		return "serve", "WORKSPACE_ID and PLATFORM_URL are not both set"
	case slices.ContainsFunc([]string{"RUNTIME_IN_CONTAINER", "WORKSPACE_CONFIG_PATH", "CONFIGS_DIR", "MOLECULE_WORKSPACE_URL"}, has):
		return "serve", "the environment is that of a workspace's container"
	case has("MOLECULE_WORKSPACE_TOKEN") || has("MOLECULE_WORKSPACE_TOKEN_FILE"):
		return "channel", "WORKSPACE_ID, PLATFORM_URL and a token are set, as the Connect dialog shows them"
	}
	return "serve", "WORKSPACE_ID and PLATFORM_URL are set, and no token"
}

// serveChecks are those of runtime serve.
func serveChecks(s settings.Settings, environ []string, at scratch) []preflight.Check {
	all := append(turnChecks(s, environ, at), port(s.Addr))
	return slices.Concat(all, platformChecks(s), toolChecks(s, environ, at))
}

// channelChecks are those of runtime channel. It listens only if it is told to.
func channelChecks(s settings.Settings, environ []string, at scratch) []preflight.Check {
	all := turnChecks(s, environ, at)
	if s.Addr != "" {
		all = append(all, port(s.Addr))
	}
	return slices.Concat(all, platformChecks(s), spaceToolChecks(s, environ, at))
}

// turnChecks are what has to hold for a turn, however its message comes.
func turnChecks(s settings.Settings, environ []string, at scratch) []preflight.Check {
	return append(checks(s, environ, fence.Make(context.Background(), s, secrets.Of(s, environ).Known), at), accountCheck(s, environ, at), stateCheck(s.StateDir), skewCheck(s, modelTime(s, environ)...))
}

// mcpChecks are those of runtime mcp, which starts no codex.
func mcpChecks(s settings.Settings, environ []string, _ scratch) []preflight.Check {
	return append(platformChecks(s), hostToolCheck(s, environ), runtimeCheck(s.URL), preflight.Clock(), skewCheck(s))
}

// loadChannel reads the settings of runtime channel, and says what is wrong with them.
func (p *program) loadChannel() (settings.Settings, []settings.Warning, bool) {
	s, warnings, err := settings.LoadChannel(p.environ)
	return s, warnings, p.usable(err)
}

// loadMCP reads those of runtime mcp. Outside of a workspace others than those of the
// runtime that it calls may be those of another machine.
func (p *program) loadMCP() (settings.Settings, []settings.Warning, bool) {
	s, _, err := settings.Load(p.environ)
	if s.InWorkspace() {
		return s, nil, p.usable(err)
	}
	client, err := settings.LoadClient(p.environ)
	s.URL, s.CodexHome = client.URL, client.CodexHome
	return s, nil, p.usable(err)
}

// isSet reports whether a variable has a value.
func isSet(environ []string, name string) bool {
	return valueOf(environ, name) != ""
}

// valueOf is what a variable holds; of two equal names the last one counts.
func valueOf(environ []string, name string) (value string) {
	for _, kv := range environ {
		if held, ok := strings.CutPrefix(kv, name+"="); ok {
			value = strings.TrimSpace(held)
		}
	}
	return value
}
