package main

import (
	"context"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/doctor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

type doctorFlags struct {
	For  string `enum:",serve,channel,mcp" default:"" placeholder:"WAY" help:"What is to run: serve, channel or mcp. Without, it is guessed from the environment, and the first line says how."`
	Deep bool   `help:"Also have codex run a turn with a tool, on the built-in scripted model: for a codex that this runtime was not tried with. It takes some seconds and no account, and nothing leaves this machine. Not for mcp, which starts no codex."`
	JSON bool   `name:"json" help:"Print JSON, for programs."`
}

// doctor runs all checks of one way in and reports. Its exit code is 0 only if that
// would run.
func (p *program) doctor(ctx context.Context, o doctorFlags) int {
	name, why := o.For, ""
	if name == "" {
		name, why = guess(p.environ)
	}
	if o.Deep && name == "mcp" {
		p.complain("--deep has codex run a turn, and runtime mcp starts none", "leave out --deep, or name another way with --for")
		return exitUsage
	}
	w := ways()[name]
	s, warnings, ok := w.load(p)
	if !ok {
		return exitUsage
	}
	for _, warning := range warnings {
		p.complain(warning.Text, "correct "+warning.Name+", or unset it")
	}
	report := w.Examine(ctx, doctor.Case{Settings: s, Environ: p.environ, Version: version, Deep: o.Deep})
	if ctx.Err() != nil { // what was asked then has no answer
		p.complain("the checks were interrupted", "let them come to their end: each gives up by itself")
		return exitFailed
	}
	report.For, report.Why, report.Subject = name, why, w.Subject
	if o.JSON {
		if code := p.printJSON(report); code != exitOK {
			return code
		}
	} else if err := report.WriteHuman(p.stdout, logging.IsTerminal(p.stdout)); err != nil {
		return p.fail(err)
	}
	if !report.OK() {
		return exitFailed
	}
	return exitOK
}

// guess says which of them an environment is for, and why. That of runtime mcp looks like
// that of a channel, so it is never guessed.
func guess(environ []string) (name, why string) {
	has := func(name string) bool { return settings.Value(environ, name) != "" }
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

// A way is one of the ways in which the program is put to work, with the settings that count for it.
type way struct {
	doctor.Way
	load func(*program) (settings.Settings, []settings.Warning, bool)
}

func ways() map[string]way {
	read := func(load func([]string) (settings.Settings, []settings.Warning, error)) func(*program) (settings.Settings, []settings.Warning, bool) {
		return func(p *program) (settings.Settings, []settings.Warning, bool) {
			s, warnings, err := load(p.environ)
			return s, warnings, p.usable(err)
		}
	}
	return map[string]way{
		"serve":   {doctor.Serve(), (*program).load},
		"channel": {doctor.Channel(), read(settings.LoadChannel)},
		"mcp":     {doctor.MCP(), read(settings.LoadMCP)},
	}
}
