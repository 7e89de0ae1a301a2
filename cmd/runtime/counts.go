package main

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// platformMetrics clock what the platform is asked. The names of calls are constants of
// package platform, and outcomes are a few.
type platformMetrics struct{ calls *prometheus.HistogramVec }

func newPlatformMetrics(registry prometheus.Registerer) platformMetrics {
	m := platformMetrics{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "molecule_codex", Name: "platform_call_duration_seconds",
		Help:    "Calls of the platform, repetitions included, by operation and by outcome: ok, refused, unavailable, canceled or failed.",
		Buckets: []float64{.01, .05, .25, 1, 5, 30},
	}, []string{"operation", "outcome"})}
	registry.MustRegister(m.calls)
	m.calls.WithLabelValues("heartbeat", platform.Outcome(nil)) // the alarm about it needs a beginning
	return m
}

// observe is [platform.Config.Observe].
func (m platformMetrics) observe(_ context.Context, call string) (http.Header, func(error)) {
	began := time.Now()
	return nil, func(err error) {
		m.calls.WithLabelValues(call, platform.Outcome(err)).Observe(time.Since(began).Seconds())
	}
}

// commits clocks the commits of the journal.
func commits(registry prometheus.Registerer) func(time.Duration) {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{
		Namespace: "molecule_codex", Name: "journal_commit_duration_seconds",
		Help:    "Commits of the state database; each may hold the changes of several tasks.",
		Buckets: []float64{.0001, .0005, .0025, .01, .05, .25, 1},
	})
	registry.MustRegister(h)
	return func(took time.Duration) { h.Observe(took.Seconds()) }
}

// channelMetrics count what a channel does. Workspaces are those of the settings.
type channelMetrics struct {
	rows, polls, replies *prometheus.CounterVec
	good                 *prometheus.GaugeVec
}

func newChannelMetrics(registry prometheus.Registerer) channelMetrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "molecule_codex", Name: name, Help: help}, labels)
	}
	m := channelMetrics{
		rows:    counter("channel_rows_total", "Rows of inboxes that were taken on, those too that need no answer.", "workspace"),
		polls:   counter("channel_polls_total", "Pages of inboxes that were asked for, by result: ok or failed.", "workspace", "result"),
		replies: counter("channel_replies_total", "Replies that have arrived (sent) or were refused for good (dead): runtime channel dead lists the latter.", "workspace", "result"),
		good: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "molecule_codex", Name: "channel_last_poll_timestamp_seconds",
			Help: "When an inbox was last read, since 1970; before the first time, when the channel began.",
		}, []string{"workspace"}),
	}
	registry.MustRegister(m.rows, m.polls, m.replies, m.good)
	return m
}

// begin makes the series of a workspace, so that alarms see the first rise of each.
func (m channelMetrics) begin(workspace string) {
	m.rows.WithLabelValues(workspace)
	for _, result := range []string{"ok", "failed"} {
		m.polls.WithLabelValues(workspace, result)
	}
	for _, result := range []string{"sent", "dead"} {
		m.replies.WithLabelValues(workspace, result)
	}
	m.good.WithLabelValues(workspace).SetToCurrentTime()
}

// Polled implements [channel.Metrics].
func (m channelMetrics) Polled(workspace string, err error) {
	if err != nil {
		m.polls.WithLabelValues(workspace, "failed").Inc()
		return
	}
	m.polls.WithLabelValues(workspace, "ok").Inc()
	m.good.WithLabelValues(workspace).SetToCurrentTime()
}

// Accepted implements [channel.Metrics].
func (m channelMetrics) Accepted(workspace string, rows int) {
	m.rows.WithLabelValues(workspace).Add(float64(rows))
}

// Replied implements [channel.Metrics].
func (m channelMetrics) Replied(workspace string, taken bool) {
	result := "sent"
	if !taken {
		result = "dead"
	}
	m.replies.WithLabelValues(workspace, result).Inc()
}

// counts are those of the channel of an inbox.
func (box *inbox) counts(registry prometheus.Registerer) channelMetrics {
	m := newChannelMetrics(registry)
	for _, space := range box.spaces {
		m.begin(space.id)
	}
	return m
}
