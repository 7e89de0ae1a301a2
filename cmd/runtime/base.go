package main

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/wirelog"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
)

// A base is what an application stands on, whatever way its messages come.
type base struct {
	wire     *wirelog.Recorder // nil unless codex's messages are to be kept
	fence    fence.Fence       // that codex is started through
	registry *prometheus.Registry
	metrics  *server.Metrics
	refusals *refusals.Refusals  // one for all doors
	commits  func(time.Duration) // of the journal
}

// openBase makes it, and how codex is started.
func (app *application) openBase(s settings.Settings, environ []string) (base, error) {
	openFiles(app.log)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	app.openTraces(s)
	app.observe = app.traces.Calls(newPlatformMetrics(registry).observe)
	if err := s.User.May(); err != nil {
		return base{}, fmt.Errorf("CODEX_USER: %w (start the runtime as root or with CAP_SETUID and CAP_SETGID, or unset it)", err)
	}
	if err := makeFolders(s); err != nil {
		return base{}, err
	}
	// codex makes it, and what is in it, as open as the umask of whoever began it says.
	s.User.Shut(s.CodexHome, app.log)
	if s.User == nil { // in a sandbox commands cannot look, but for those that a caller has allowed to leave it
		if err := fence.KeepPrivate(); err != nil {
			app.log.Warn("the environment of this process can be read by codex's commands", "err", err)
		}
	}
	fenced := fence.Make(context.Background(), s, app.redact.Known)
	switch {
	case fenced.Err != nil:
		app.log.Info("codex can look into other processes of its user", "user", s.User.String(), "err", fenced.Err, "fix", openFix)
	case len(fenced.Argv) > 0:
		app.log.Info("codex is kept out of other processes of its user", "through", fenced.Argv[0], "docs", "security.md, Links")
	}
	if fenced.Shared != nil {
		app.log.Warn("what is mounted on this machine while a command of codex's runs is not read-only in its sandbox", "err", fenced.Shared, "fix", fence.SharedFix(s))
	}
	scriptedURL, err := app.openModel(s)
	if err != nil {
		return base{}, err
	}
	if err := app.openSetup(s, environ, scriptedURL, app.redact); err != nil {
		return base{}, err
	}
	metrics := server.NewMetrics(registry)
	refused := refusals.New(refusals.Config{Weak: s.WeakToken(), Counted: metrics.Refused, Logger: app.log})
	return base{app.openWire(s.DebugWire), fenced, registry, metrics, refused, commits(registry)}, nil
}
