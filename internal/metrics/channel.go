package metrics

import "github.com/prometheus/client_golang/prometheus"

// Inboxes count what a channel does.
type Inboxes struct {
	rows, polls, replies *prometheus.CounterVec
	good                 *prometheus.GaugeVec
}

// NewInboxes returns those of workspaces, which are those of the settings.
func NewInboxes(registry prometheus.Registerer, workspaces ...string) Inboxes {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "molecule_codex", Name: name, Help: help}, labels)
	}
	m := Inboxes{
		rows:    counter("channel_rows_total", "Rows of inboxes that were taken on, those too that need no answer.", "workspace"),
		polls:   counter("channel_polls_total", "Pages of inboxes that were asked for, by result: ok or failed.", "workspace", "result"),
		replies: counter("channel_replies_total", "Replies that have arrived (sent) or were refused for good (dead): runtime channel dead lists the latter.", "workspace", "result"),
		good: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "molecule_codex", Name: "channel_last_poll_timestamp_seconds",
			Help: "When an inbox was last read, since 1970; before the first time, when the channel began.",
		}, []string{"workspace"}),
	}
	registry.MustRegister(m.rows, m.polls, m.replies, m.good)
	for _, w := range workspaces {
		m.begin(w)
	}
	return m
}

// begin makes the series of a workspace, so that alarms see the first rise of each.
func (m Inboxes) begin(workspace string) {
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
func (m Inboxes) Polled(workspace string, err error) {
	if err != nil {
		m.polls.WithLabelValues(workspace, "failed").Inc()
		return
	}
	m.polls.WithLabelValues(workspace, "ok").Inc()
	m.good.WithLabelValues(workspace).SetToCurrentTime()
}

// Accepted implements [channel.Metrics].
func (m Inboxes) Accepted(workspace string, rows int) {
	m.rows.WithLabelValues(workspace).Add(float64(rows))
}

// Replied implements [channel.Metrics].
func (m Inboxes) Replied(workspace string, taken bool) {
	result := "sent"
	if !taken {
		result = "dead"
	}
	m.replies.WithLabelValues(workspace, result).Inc()
}
