package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// stateCheck looks into the state directory, and leaves it as it is.
func stateCheck(dir string) preflight.Check {
	return preflight.Check{Name: "state", Run: func(context.Context) preflight.Result {
		in, err := store.Inspect(dir)
		if room := store.RoomIn(dir); err == nil && !errors.Is(room, os.ErrNotExist) { // it is made at the start
			err = room
		}
		switch {
		case err != nil:
			return preflight.Result{Status: preflight.Fail, Detail: err.Error()}
		case in.Holder != nil:
			return preflight.Result{Status: preflight.OK, Detail: fmt.Sprintf("%s is in use by process %d on %s", dir, in.Holder.PID, in.Holder.Host)}
		case in.Bytes == 0:
			return preflight.Result{Status: preflight.OK, Detail: dir + " has nothing in it yet"}
		case in.Schema < in.Ours:
			return preflight.Result{Status: preflight.OK, Detail: fmt.Sprintf(
				"%s, %d KiB; the next start copies it and brings it from version %d to %d", in.Path, in.Bytes>>10, in.Schema, in.Ours)}
		}
		return preflight.Result{Status: preflight.OK, Detail: fmt.Sprintf("%s, %d KiB", in.Path, in.Bytes>>10)}
	}}
}

// conversations are the threads that the store names and the executor holds.
type conversations struct {
	*store.Store
	executor *executor.Executor
}

// EndAgents implements [tasks.Conversations].
func (c conversations) EndAgents(ctx context.Context, conversation string) (int, error) {
	thread, err := c.Thread(ctx, conversation)
	if err != nil {
		return 0, err
	}
	return c.executor.EndAgents(thread), nil
}

// Drop implements [tasks.Conversations]. Subagents that still work end with the
// conversation; the thread's file goes with the next tidying.
func (c conversations) Drop(ctx context.Context, conversation string) error {
	if err := c.executor.Drop(ctx, conversation); err != nil {
		return err
	}
	if _, err := c.EndAgents(ctx, conversation); err != nil {
		return err
	}
	err := c.ForgetConversation(ctx, conversation, time.Time{})
	if errors.Is(err, store.ErrInUse) {
		thread, readErr := c.Thread(ctx, conversation)
		if readErr != nil || thread == "" { // there was none to forget
			return readErr
		}
		return executor.ErrBusy // a message has come in between
	}
	return err
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
		bytes: prometheus.NewDesc("molecule_codex_state_bytes", "Size of the state database.", []string{"file"}, nil),
		rows:  prometheus.NewDesc("molecule_codex_state_rows", "What the state database holds.", []string{"of"}, nil),
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
