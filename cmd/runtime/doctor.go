package main

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

type doctorFlags struct {
	For  string `enum:",serve,channel,mcp" default:"" placeholder:"WAY" help:"What is to run: serve, channel or mcp. Without, it is guessed from the environment, and the first line says how."`
	JSON bool   `name:"json" help:"Print JSON, for programs."`
}

// doctor runs all checks of one way in and reports. Its exit code is 0 only if that
// would run.
func (p *program) doctor(ctx context.Context, o doctorFlags) int {
	name, why := o.For, ""
	if name == "" {
		name, why = guess(p.environ)
	}
	w := ways()[name]
	s, warnings, ok := w.load(p)
	if !ok {
		return exitUsage
	}
	for _, warning := range warnings {
		p.complain(warning.Text, "correct "+warning.Name+", or unset it")
	}
	report := examine(ctx, w, s, p.environ)
	if ctx.Err() != nil { // what was asked then has no answer
		p.complain("the checks were interrupted", "let them come to their end: each gives up by itself")
		return exitFailed
	}
	report.For, report.Why, report.Subject = name, why, w.subject
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

// examine runs the checks of a way in. The report has no secrets in it, and nothing that
// the checks have written is left.
func examine(ctx context.Context, w way, s settings.Settings, environ []string) preflight.Report {
	at, err := newScratch(s.CodexHome, s.User)
	if err != nil {
		return preflight.Report{Results: []preflight.Result{{
			Name: "temp directory", Status: preflight.Fail, Detail: err.Error(), Fix: "set TMPDIR to a directory that can be written, and has room",
		}}}
	}
	defer at.remove()
	return withoutSecrets(preflight.Run(ctx, w.checks(s, environ, at)...), secrets.Of(s, environ))
}
