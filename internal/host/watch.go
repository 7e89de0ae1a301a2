package host

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/metrics"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/tracing"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/wirelog"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
)

// Options are what a runtime is built by.
type Options struct {
	Settings  settings.Settings
	Environ   []string
	Variables map[string]string // what get_runtime_identity tells of the environment
	Version   string
	Redact    *logging.Redactor
	Logger    *slog.Logger
}

// A Watch is by what people see how a runtime is: metrics and traces. It is there first.
type Watch struct {
	Options
	Registry *prometheus.Registry
	Metrics  *server.Metrics
	Refusals *refusals.Refusals // one for all doors
	Traces   *tracing.Tracing   // nil if none are made
	Calls    tracing.Observe    // observes the calls of platforms
}

// OpenWatch makes it. That no traces can be made is no reason not to start.
func OpenWatch(life *Life, o Options) *Watch {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	w := &Watch{Options: o, Registry: registry, Metrics: server.NewMetrics(registry), Traces: openTraces(life, o)}
	w.Refusals = refusals.New(refusals.Config{Weak: o.Settings.WeakToken(), Counted: w.Metrics.Refused, Logger: o.Logger})
	w.Calls = w.Traces.Calls(metrics.Calls(registry))
	return w
}

func openTraces(life *Life, o Options) *tracing.Tracing {
	endpoint, why := o.Settings.Traces()
	if why != "" {
		o.Logger.Warn("no traces are made", "why", why)
	}
	if endpoint == "" {
		return nil
	}
	made, err := tracing.Open(context.Background(), tracing.Config{
		Version: o.Version, Workspace: o.Settings.WorkspaceID, Endpoint: endpoint, Headers: o.Settings.TracesHeaders(), Logger: o.Logger,
	})
	if err != nil {
		o.Logger.Warn("no traces are made", "why", err)
		return nil
	}
	life.Opened(made)
	o.Logger.Info("traces are made", "endpoint", endpoint)
	return made
}

// openWire begins the record of what is said to codex and by it; nil if there is to be none.
func (w *Watch) openWire(life *Life) *wirelog.Recorder {
	path := w.Settings.DebugWire
	if path == "" {
		return nil
	}
	recorder := wirelog.Open(wirelog.Config{
		Path: path, Redact: w.Redact.String, Logger: w.Logger, Run: wirelog.Run{Runtime: w.Version, Codex: codex.Pinned()},
	})
	w.Logger.Warn("everything said to and by codex is recorded, prompts included", "file", path)
	life.Opened(recorder)
	return recorder
}
