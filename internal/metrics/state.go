package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// State tells the sizes of the store when they are asked for.
type State struct {
	store *store.Store
	bytes *prometheus.Desc
	rows  *prometheus.Desc
}

// NewState returns that of a store.
func NewState(s *store.Store) *State {
	return &State{
		store: s,
		bytes: prometheus.NewDesc("molecule_codex_state_bytes", "Size of the state database.", []string{"file"}, nil),
		rows:  prometheus.NewDesc("molecule_codex_state_rows", "What the state database holds.", []string{"of"}, nil),
	}
}

// Describe implements [prometheus.Collector].
func (m *State) Describe(out chan<- *prometheus.Desc) {
	out <- m.bytes
	out <- m.rows
}

// Collect implements [prometheus.Collector].
func (m *State) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	sizes, err := m.store.Sizes(ctx)
	if err != nil {
		out <- prometheus.NewInvalidMetric(m.rows, err)
		return
	}
	gauge := func(desc *prometheus.Desc, value int64, label string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), label)
	}
	gauge(m.bytes, sizes.Database, "database")
	gauge(m.bytes, sizes.Log, "log")
	gauge(m.rows, int64(sizes.Tasks), "tasks")
	gauge(m.rows, int64(sizes.Events), "event_batches")
	gauge(m.rows, int64(sizes.Waiting), "messages_waiting")
	gauge(m.rows, int64(sizes.Outbox), "deliveries_waiting")
}
