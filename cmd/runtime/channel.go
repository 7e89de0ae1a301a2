package main

import (
	"context"
	"log/slog"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/host/inbox"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

type channelCommands struct {
	Run  channelRun  `cmd:"" default:"withargs" hidden:"" help:"Read them. This is what runtime channel alone does."`
	Dead channelDead `cmd:"" help:"List the replies that the platform has refused for good, or send one again."`
}

// Help implements [kong.HelpProvider].
func (channelCommands) Help() string {
	return "runtime channel reads them until it is interrupted: the first Ctrl-C lets the turns that run\n" +
		"come to their ends, the second interrupts them. runtime channel --once reads each inbox once,\n" +
		"answers what there is, and leaves. It needs WORKSPACE_ID, PLATFORM_URL and\n" +
		"MOLECULE_WORKSPACE_TOKEN, or MOLECULE_WORKSPACES; see docs/channel.md."
}

type channelRun struct {
	Once bool `help:"Read each inbox once, answer what there is, and leave."`
}

// channel runs one of the commands of a channel.
func (p *program) channel(ctx context.Context, command string, c *channelCommands) int {
	switch {
	case strings.HasPrefix(command, "dead retry"):
		return p.retryLetter(ctx, c.Dead.Retry.ID)
	case strings.HasPrefix(command, "dead"):
		return p.deadLetters(ctx, c.Dead.List.JSON)
	}
	return p.serveChannel(ctx, c.Run.Once)
}

// serveChannel reads the inboxes until ctx ends, or what runs has come to its end after the first Ctrl-C.
func (p *program) serveChannel(ctx context.Context, once bool) int {
	s, warnings, err := settings.LoadChannel(p.environ)
	if !p.usable(err) {
		return exitUsage
	}
	return p.logged(s, warnings, func(log *slog.Logger, redact *logging.Redactor) error {
		return inbox.Run(ctx, inbox.Options{Options: p.options(s, log, redact), Once: once, Quit: quitOf(ctx)})
	})
}
