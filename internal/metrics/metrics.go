// Package metrics counts and measures, for Prometheus, what parts of the runtime do that know nothing of it.
package metrics

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// Calls clocks what the platform is asked; it returns what [platform.Config] has as Observe. The names of calls are
// constants of package platform, and outcomes are a few.
func Calls(registry prometheus.Registerer) func(ctx context.Context, call string) (http.Header, func(error)) {
	calls := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "molecule_codex", Name: "platform_call_duration_seconds",
		Help:    "Calls of the platform, repetitions included, by operation and by outcome: ok, refused, unavailable, canceled or failed.",
		Buckets: []float64{.01, .05, .25, 1, 5, 30},
	}, []string{"operation", "outcome"})
	registry.MustRegister(calls)
	calls.WithLabelValues("heartbeat", platform.Outcome(nil)) // the alarm about it needs a beginning
	return func(_ context.Context, call string) (http.Header, func(error)) {
		began := time.Now()
		return nil, func(err error) {
			calls.WithLabelValues(call, platform.Outcome(err)).Observe(time.Since(began).Seconds())
		}
	}
}

// Commits clocks the commits of the journal.
func Commits(registry prometheus.Registerer) func(time.Duration) {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: "molecule_codex", Name: "journal_commit_duration_seconds",
		Help:    "Commits of the state database; each may hold the changes of several tasks.",
		Buckets: []float64{.0001, .0005, .0025, .01, .05, .25, 1},
	})
	registry.MustRegister(h)
	return func(took time.Duration) { h.Observe(took.Seconds()) }
}
