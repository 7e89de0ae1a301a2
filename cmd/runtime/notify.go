package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/netguard"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/notify"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
)

// The extension of A2A by which callers ask that those be told again who could not
// be told of a task's end. docs/bridge.md describes it; package bridge calls it.
const (
	notifyExtension = "https://github.com/Molecule-AI/molecule-codex-runtime/extensions/notify/v1"
	notifyMethod    = "NotifyEndedTasks"
)

// notify makes what tells of the ends of tasks.
func (app *application) notify(s settings.Settings, journal *store.Store) *tasks.Notify {
	cfg := notify.Config{Journal: journal, Logger: app.log}
	if s.Push {
		cfg.Poster = push.NewPoster(netguard.New(s.AllowedNetworks...), 0, time.Now)
		app.closers = append(app.closers, posterCloser{cfg.Poster})
	}
	if s.InWorkspace() {
		cfg.Platform = canvas{app.speaker(s), func() { app.engine.SaidToUser() }}
	}
	app.notifier = notify.New(cfg)
	app.goOn(app.notifier.Run)
	return &tasks.Notify{Check: app.notifier.Check, Wake: app.notifier.Wake}
}

// canvas is where the user of the workspace reads.
type canvas struct {
	*platform.Speaker
	said func() // see [tasks.Engine.SaidToUser]
}

// Notify implements [notify.Platform].
func (c canvas) Notify(ctx context.Context, id, message string) error {
	if there, err := c.Arrived(ctx, id, message); there || err != nil {
		return err
	}
	c.said()
	defer c.said()
	return c.Say(ctx, id, message)
}

type posterCloser struct{ *push.Poster }

func (p posterCloser) Close() error {
	p.Poster.Close()
	return nil
}

func extensions() []a2a.AgentExtension {
	return []a2a.AgentExtension{{
		URI:         notifyExtension,
		Description: "Tells the notifyTarget of a message when its task has ended; " + notifyMethod + " tries those again that have not been reached.",
		Params:      map[string]any{"method": notifyMethod},
	}}
}

// methods are those of the extensions.
func (app *application) methods() map[string]func(context.Context, json.RawMessage) (any, error) {
	return map[string]func(context.Context, json.RawMessage) (any, error){
		notifyMethod: func(ctx context.Context, raw json.RawMessage) (any, error) {
			var params struct {
				Limit  int  `json:"limit"`
				DryRun bool `json:"dryRun"`
			}
			if err := json.Unmarshal(raw, &params); err != nil {
				return nil, a2a.NewError(a2a.ErrInvalidParams, "limit must be a whole number, and dryRun true or false")
			}
			return app.notifier.Retry(ctx, params.Limit, params.DryRun)
		},
	}
}
