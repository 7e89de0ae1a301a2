package main

import (
	"context"
	"log/slog"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/host/serve"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
)

// serve serves A2A over HTTP until it is interrupted.
func (p *program) serve(ctx context.Context) int {
	s, warnings, ok := p.load()
	if p.held != nil { // it may be what the runtime is closed with; a service tries again after this code
		return p.fail(p.held)
	}
	if !ok {
		return exitUsage
	}
	return p.logged(s, warnings, func(log *slog.Logger, redact *logging.Redactor) error {
		return serve.Run(ctx, p.options(s, log, redact))
	})
}
