package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/machine"
)

type machineCommands struct {
	Run         struct{} `cmd:"" default:"withargs" hidden:"" help:"Run them. This is what runtime machine alone does."`
	Token       struct{} `cmd:"" help:"Print the token that this machine asks of runtimes. It is made if there is none."`
	Fingerprint struct{} `cmd:"" help:"Print the fingerprint by which runtimes know this machine's certificate. It is made if there is none."`
}

// Help implements [kong.HelpProvider].
func (machineCommands) Help() string {
	return "runtime machine listens on RUNTIME_MACHINE_ADDR, and prints what joins it: one line, for the machine on which the\n" +
		"runtime is. Who has its token can run commands here. The first SIGTERM or Ctrl-C has it take no new turns, and end\n" +
		"when those that run have ended, RUNTIME_MACHINE_DRAIN later at most; the second ends it with them. See docs/machines.md."
}

// machine runs one of the commands of a machine.
func (p *program) machine(ctx context.Context, command string) int {
	s, warnings, err := settings.LoadMachine(p.environ)
	if !p.usable(err) {
		return exitUsage
	}
	switch command {
	case "token", "fingerprint":
		return p.machineIdentity(s, command)
	}
	return p.logged(s, warnings, func(log *slog.Logger, redact *logging.Redactor) error {
		if s.MadeWorkDir {
			if err := os.MkdirAll(s.WorkDir, 0o700); err != nil {
				return err
			}
		}
		warnOfUser(s, log)
		cfg := p.machineConfig(s, log)
		if id, err := cfg.Identity(); err == nil {
			if token, err := id.Token.Value(); err == nil {
				redact.Add(token)
			}
		}
		cfg.Quit = quitOf(ctx)
		cfg.Joined = func(j machine.Join) {
			p.print(fmt.Sprintf("This machine is joined, by a runtime that reaches it, with\n\n  %s\n\n", j.Command()))
		}
		return machine.Run(ctx, cfg)
	})
}

// warnOfUser says what a machine is trusted with whose commands run as its own user.
func warnOfUser(s settings.Settings, log *slog.Logger) {
	if s.User == nil {
		log.Warn("commands run as the user of this program, and can read its token and its key: start it as root, with CODEX_USER", "state", s.StateDir)
	}
}

func (p *program) machineConfig(s settings.Settings, log *slog.Logger) machine.Config {
	return machine.Config{
		Addr: s.MachineAddr, Name: s.MachineName, Labels: s.Labels, Root: s.WorkDir, Turns: s.MachineTurns, Drain: s.MachineDrain,
		State: s.StateDir, Home: s.CodexHome, Token: s.MachineToken.Reveal(), TokenFile: s.MachineTokenFile, Cert: s.MachineCert, Key: s.MachineKey,
		Bin: s.CodexBin, Env: launch.MachineEnv(s, p.environ), Sandbox: s.Sandbox, User: s.User, Version: version, Logger: log,
	}
}

// machineIdentity prints what the machine is known by.
func (p *program) machineIdentity(s settings.Settings, what string) int {
	id, err := p.machineConfig(s, slog.New(slog.DiscardHandler)).Identity()
	if err != nil {
		return p.fail(err)
	}
	text := id.Cert.Fingerprint()
	if what == "token" {
		if text, err = id.Token.Value(); err != nil {
			return p.fail(err)
		}
	}
	p.print(text + "\n")
	return exitOK
}
