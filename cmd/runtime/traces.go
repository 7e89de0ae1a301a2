package main

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/tracing"
)

// openTraces begins to make traces, if somebody wants any. That they cannot be made is no
// reason not to start.
func (app *application) openTraces(s settings.Settings) {
	endpoint, why := s.Traces()
	if why != "" {
		app.log.Warn("no traces are made", "why", why)
	}
	if endpoint == "" {
		return
	}
	made, err := tracing.Open(context.Background(), tracing.Config{
		Version: version, Workspace: s.WorkspaceID, Endpoint: endpoint, Headers: s.TracesHeaders(), Logger: app.log,
	})
	if err != nil {
		app.log.Warn("no traces are made", "why", err)
		return
	}
	app.traces = made
	app.closers = append(app.closers, made)
	app.log.Info("traces are made", "endpoint", endpoint)
}
