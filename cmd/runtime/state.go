package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// stateCheck looks into the state directory. While a runtime uses it, that is all
// there is to say: nobody else may open the database.
func stateCheck(dir string) preflight.Check {
	return preflight.Check{Name: "state", Run: func(ctx context.Context) preflight.Result {
		if _, err := os.Stat(filepath.Join(dir, "state.db")); errors.Is(err, os.ErrNotExist) {
			return preflight.Result{Status: preflight.OK, Detail: dir + " has nothing in it yet"}
		}
		s, err := store.Open(ctx, store.Config{Dir: dir})
		if locked, ok := errors.AsType[*store.LockedError](err); ok {
			return preflight.Result{Status: preflight.OK, Detail: fmt.Sprintf("%s is in use by process %d on %s", dir, locked.PID, locked.Host)}
		}
		if err != nil {
			return preflight.Result{Status: preflight.Fail, Detail: err.Error()}
		}
		sizes, err := s.Sizes(ctx)
		if err = errors.Join(err, s.Check(ctx), s.Close()); err != nil {
			return preflight.Result{Status: preflight.Fail, Detail: err.Error()}
		}
		return preflight.Result{Status: preflight.OK, Detail: fmt.Sprintf(
			"%s is sound: %d KiB, %d tasks, %d messages waiting", s.Path(), (sizes.Database+sizes.Log)>>10, sizes.Tasks, sizes.Waiting)}
	}}
}

// Housekeeping of conversations: their threads are files in CODEX_HOME that
// codex keeps for ever.
const (
	idleFor     = 30 * 24 * time.Hour // as long as ended tasks are kept
	tidyEvery   = time.Hour
	tidyAtOnce  = 100
	tidyTimeout = time.Minute
)

// tidy forgets conversations that nobody has used for a long time, and deletes
// the files of their threads. It returns when ctx ends.
func tidy(ctx context.Context, s *store.Store, codexHome string, log *slog.Logger) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		if err := tidyOnce(ctx, s, codexHome, time.Now().Add(-idleFor)); err != nil && ctx.Err() == nil {
			log.Warn("old conversations could not be forgotten; this is tried again in an hour", "err", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// tidyOnce is safe to be cut off anywhere: a thread stays on the list of
// leftovers until its file is gone.
func tidyOnce(ctx context.Context, s *store.Store, codexHome string, before time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, tidyTimeout)
	defer cancel()
	idle, err := s.Idle(ctx, before, tidyAtOnce)
	if err != nil {
		return err
	}
	for _, c := range idle {
		if err := s.ForgetConversation(ctx, c.Key, before); err != nil && !errors.Is(err, store.ErrInUse) {
			return err
		}
	}
	left, err := s.Leftovers(ctx, tidyAtOnce)
	if err != nil {
		return err
	}
	for _, thread := range left {
		if err := appserver.RemoveRollout(codexHome, thread); err != nil {
			return err
		}
		if err := s.DropThreads(ctx, thread); err != nil {
			return err
		}
	}
	return nil
}

// stateMetrics tells the sizes of the store when they are asked for.
type stateMetrics struct {
	store *store.Store
	bytes *prometheus.Desc
	rows  *prometheus.Desc
}

func newStateMetrics(s *store.Store) *stateMetrics {
	return &stateMetrics{
		store: s,
		bytes: prometheus.NewDesc("runtime_state_bytes", "Size of the state database.", []string{"file"}, nil),
		rows:  prometheus.NewDesc("runtime_state_rows", "What the state database holds.", []string{"of"}, nil),
	}
}

// Describe implements [prometheus.Collector].
func (m *stateMetrics) Describe(out chan<- *prometheus.Desc) {
	out <- m.bytes
	out <- m.rows
}

// Collect implements [prometheus.Collector].
func (m *stateMetrics) Collect(out chan<- prometheus.Metric) {
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
