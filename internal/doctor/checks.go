// Package doctor looks whether a turn would run here, and says what to do where it would not. It changes nothing.
package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexfit"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextemp"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// checks returns what has to hold for a turn to run. Doctor and readiness ask
// the same; doctor's codex works in a scratch.
func checks(s settings.Settings, environ []string, fenced fence.Fence, at scratch, fit *codexfit.Fit) []preflight.Check {
	start, _, _, _ := adapter.Look(launch.Setup(s, environ, "")) // what is wrong with it has a check of its own
	env := at.env(start.BareEnv())
	all := []preflight.Check{
		fit.Check(),
		userCheck(s, environ, fenced),
		preflight.Sandbox(preflight.SandboxProbe{
			Bin: s.CodexBin, Mode: s.Sandbox, Env: env, Home: at.or(s.CodexHome), User: s.User, Through: fenced.Argv, Contained: s.InContainer,
			Sockets: codextemp.Sockets(s.User),
		}),
		credentialCheck(s, environ),
		preflight.Writable("state directory", s.StateDir, "RUNTIME_STATE_DIR", true),
		as(s.User, preflight.Writable("work directory", s.WorkDir, "RUNTIME_WORKDIR", s.MadeWorkDir)),
		as(s.User, preflight.Writable("codex home", s.CodexHome, "CODEX_HOME", true)),
		projectCheck(s, environ),
		preflight.Clock(),
		rulesCheck(s),
	}
	if s.Sandbox != "danger-full-access" {
		all = append(all, preflight.X32()...)
	}
	if s.Sandbox == "workspace-write" {
		all = append(all, networkCheck(s, environ))
		for _, check := range preflight.Setuid(append(start.Written(), s.WorkDir)...) {
			all = append(all, as(s.User, check))
		}
	}
	if s.InWorkspace() {
		all = append(all, configurationCheck(s, environ))
	}
	return all
}

// networkCheck looks whether commands have the network in codex's sandbox, and so can call this
// runtime as its user does.
func networkCheck(s settings.Settings, environ []string) preflight.Check {
	return preflight.Check{Name: "network", Run: func(context.Context) preflight.Result {
		start, _, _, _ := adapter.Look(launch.Setup(s, environ, "")) // as it is now
		given, known := start.Network()
		switch {
		case !known && !given && launch.CommandsMayCall(s):
			return preflight.Result{
				Status: preflight.Warn,
				Detail: "codex's configuration cannot be read, so that it is not known whether it gives commands the network; nothing keeps from them what callers show",
				Fix:    "mend codex's config.toml, with which codex does not start; then, if it has network_access, set RUNTIME_TOKEN, and in a workspace CODEX_USER, too",
			}
		case !given:
			return preflight.Result{Status: preflight.OK, Detail: "codex's configuration gives commands none in their sandbox"}
		case !launch.CommandsMayCall(s):
			return preflight.Result{Status: preflight.OK, Detail: "commands have it in their sandbox, and not what callers show"}
		}
		return preflight.Result{
			Status: preflight.Warn,
			Detail: "commands have it in their sandbox (sandbox_workspace_write.network_access in codex's configuration) and nothing keeps from them what callers show: " +
				"a command can read all tasks here and send messages, and what codex asks is declined, since a command could answer it",
			Fix: "set RUNTIME_TOKEN, and in a workspace CODEX_USER, too, or take that setting away, and restart the runtime",
		}
	}}
}

// projectCheck looks at what the working directory has for codex, a branch or a command of it: with
// some of that codex loads no conversation, or its sandbox runs no command.
func projectCheck(s settings.Settings, environ []string) preflight.Check {
	return preflight.Check{Name: "project", Run: func(context.Context) preflight.Result {
		start, _, _, _ := adapter.Look(launch.Setup(s, environ, "")) // as it is now
		if why := start.Unreadable(); why != "" {
			return preflight.Result{Status: preflight.Fail, Detail: "codex can load no conversation: " + why, Fix: "remove it, or put a file there that codex can read"}
		}
		if link := start.Crossed(); link != "" && s.Sandbox == "workspace-write" {
			return preflight.Result{Status: preflight.Warn, Detail: "codex's sandbox runs no command: " + link + " is a link, which commands could lead elsewhere", Fix: "remove it, or put a folder there"}
		}
		if pipe := start.Pipe(); pipe != "" {
			return preflight.Result{Status: preflight.Warn, Detail: pipe + " is a named pipe, at which codex's own git waits for some seconds in each turn", Fix: "remove it"}
		}
		if why := start.Distrusted(); why != nil {
			return preflight.Result{Status: preflight.Warn, Detail: why.What, Fix: why.Fix}
		}
		return preflight.Result{Status: preflight.OK, Detail: "codex can read what the working directory has for it"}
	}}
}

// configurationCheck looks at config.yaml, and at the secrets beside it.
func configurationCheck(s settings.Settings, environ []string) preflight.Check {
	return preflight.Check{Name: "configuration", Run: func(context.Context) preflight.Result {
		_, config, warnings, err := adapter.Look(launch.Setup(s, environ, ""))
		if problem, ok := errors.AsType[*adapter.Problem](err); ok {
			return preflight.Result{Status: preflight.Fail, Detail: problem.What, Fix: problem.Fix}
		}
		if len(warnings) > 0 {
			texts := make([]string, len(warnings))
			for i, w := range warnings {
				texts[i] = w.String()
			}
			return preflight.Result{Status: preflight.Warn, Detail: strings.Join(texts, "; "), Fix: "correct what is meant otherwise"}
		}
		return preflight.Result{Status: preflight.OK, Detail: config.File}
	}}
}

// credentialCheck looks for the credential of the provider that is in use now.
func credentialCheck(s settings.Settings, environ []string) preflight.Check {
	return preflight.Check{Name: "credential", Run: func(ctx context.Context) preflight.Result {
		start, _, _, err := adapter.Look(launch.Setup(s, environ, ""))
		if err != nil {
			return preflight.Result{Status: preflight.Fail, Detail: "it is not known which one is needed", Fix: "see the check configuration"}
		}
		_, noLogin := adapter.LookAtLogin([]byte(s.CodexAuth.Reveal()))
		return as(s.User, preflight.Credential(preflight.Credentials{
			Scripted: s.Scripted(), Key: start.Provider.KeyName, BaseURL: start.Provider.BaseURL, Home: s.CodexHome,
			Login: start.Provider.Login, Given: start.Provider.ChatGPT, Shared: s.InWorkspace(),
			Unread: s.InWorkspace() && s.CodexAuth.Set() && noLogin != nil,
		})).Run(ctx)
	}}
}

// withoutSecrets is a report that can be shown, to a person at a terminal too.
func withoutSecrets(report preflight.Report, redact *logging.Redactor) preflight.Report {
	clean := preflight.Report{Results: make([]preflight.Result, len(report.Results))}
	for i, r := range report.Results {
		r.Detail, r.Fix = secrets.Shown(r.Detail, redact), secrets.Shown(r.Fix, redact)
		clean.Results[i] = r
	}
	return clean
}

// Turn returns what has to hold for a turn to run: what readiness asks of a runtime whose codex works all the time, with
// temp as the temp directory of its commands, and what is known of that codex.
func Turn(s settings.Settings, environ []string, fenced fence.Fence, temp string, fit *codexfit.Fit) []preflight.Check {
	return checks(s, environ, fenced, scratch{tmp: temp}, fit)
}
