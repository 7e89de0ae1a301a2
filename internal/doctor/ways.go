package doctor

import (
	"context"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexfit"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// A Case is what is looked at: a runtime, as it is set up.
type Case struct {
	Settings settings.Settings
	Environ  []string
	Version  string
	Deep     bool // has a codex of its own run a turn, where the way runs turns
}

// A Way is one of the ways in which the program is put to work, which say what has to hold.
type Way struct {
	Subject string // of the verdict; empty is a turn
	checks  func(context.Context, Case, scratch) []preflight.Check
}

// Serve is the way of runtime serve.
func Serve() Way { return Way{checks: serveChecks} }

// Channel is the way of runtime channel.
func Channel() Way { return Way{checks: channelChecks} }

// MCP is the way of runtime mcp.
func MCP() Way { return Way{Subject: "The MCP server", checks: mcpChecks} }

// Examine runs the checks of a way. The report has no secrets in it, and nothing that
// the checks have written is left.
func (w Way) Examine(ctx context.Context, c Case) preflight.Report {
	at, err := newScratch(c.Settings.CodexHome, c.Settings.User)
	if err != nil {
		return preflight.Report{Results: []preflight.Result{{
			Name: "temp directory", Status: preflight.Fail, Detail: err.Error(), Fix: "set TMPDIR to a directory that can be written, and has room",
		}}}
	}
	defer at.remove()
	return withoutSecrets(preflight.Run(ctx, w.checks(ctx, c, at)...), secrets.Of(c.Settings, c.Environ))
}

// serveChecks are those of runtime serve.
func serveChecks(ctx context.Context, c Case, at scratch) []preflight.Check {
	all := append(turnChecks(c, at), port(c.Settings.Addr))
	return slices.Concat(all, machineChecks(ctx, c), platformChecks(c.Settings), toolChecks(c, at), deepChecks(c))
}

// channelChecks are those of runtime channel. It listens only if it is told to.
func channelChecks(ctx context.Context, c Case, at scratch) []preflight.Check {
	all := turnChecks(c, at)
	if addr := c.Settings.Addr; addr != "" {
		all = append(all, port(addr))
	}
	return slices.Concat(all, machineChecks(ctx, c), platformChecks(c.Settings), spaceToolChecks(c, at), deepChecks(c))
}

// turnChecks are what has to hold for a turn, however its message comes.
func turnChecks(c Case, at scratch) []preflight.Check {
	s, environ := c.Settings, c.Environ
	program := launch.Program(s, environ)
	program.Env = at.env(program.Env) // codex makes folders in its home when it says its version, too
	fit := codexfit.New(program, at.tmp)
	return append(checks(s, environ, fence.Make(context.Background(), s, secrets.Of(s, environ).Known), at, fit), accountCheck(c, at), stateCheck(s.StateDir), skewCheck(s, modelTime(s, environ)...))
}

// mcpChecks are those of runtime mcp, which starts no codex.
func mcpChecks(_ context.Context, c Case, _ scratch) []preflight.Check {
	s := c.Settings
	return slices.Concat(platformChecks(s), inboxCheck(c), []preflight.Check{hostToolCheck(c), runtimeCheck(s.URL), preflight.Clock(), skewCheck(s)})
}
