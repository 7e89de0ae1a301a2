package main

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// A teller is the platform where it puts something before the user that is no reply to what they have
// sent. A short word of theirs may be meant for that then, and for nothing that codex asks.
type teller struct {
	*platform.Client
	notify func(ctx context.Context, message string, attachments ...platform.Attachment) error
	said   func()
}

func (app *application) telling(s settings.Settings) teller {
	return teller{app.workspaceClient(s), app.speaker(s).Notify, func() { app.engine.SaidToUser() }}
}

// Notify implements what several parts call. The engine knows before the user reads it, and once
// they can.
func (t teller) Notify(ctx context.Context, message string, attachments ...platform.Attachment) error {
	t.said()
	defer t.said()
	return t.notify(ctx, message, attachments...)
}

// CreateRequest implements [toolset.Platform].
func (t teller) CreateRequest(ctx context.Context, ask platform.Ask) (platform.Asked, error) {
	t.said()
	defer t.said()
	return t.Client.CreateRequest(ctx, ask)
}

// tellByMCP has the calls count that go by the MCP server, which has a client of its own: those of
// subagents, too.
func (app *application) tellByMCP(cfg *executor.Config) {
	cfg.OnItem = func(item agent.Item) {
		if item.Kind == agent.KindMCP && item.Server == toolset.Server && toolset.ReachesUser(item.Tool) {
			app.engine.SaidToUser()
		}
	}
}
