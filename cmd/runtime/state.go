package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
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

// ownState asks the state that is in use whether it takes a message.
func ownState(journal *store.Store) preflight.Check {
	return preflight.Check{Name: "state", Run: func(context.Context) preflight.Result {
		if err := journal.Room(); err != nil {
			return preflight.Result{Status: preflight.Fail, Detail: err.Error()}
		}
		return preflight.Result{Status: preflight.OK, Detail: journal.Path()}
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

// A forgetter lets go of a conversation that is not in use.
type forgetter interface {
	Forget(ctx context.Context, conversation string) error
}

// A sweeper deletes the files of messages that are older than that.
type sweeper interface {
	Sweep(before time.Time) error
}

// tidy forgets conversations that nobody has used for a long time, and deletes
// the files of their threads, and those that messages of that time brought. It returns when ctx ends.
func tidy(ctx context.Context, s *store.Store, threads forgetter, uploads sweeper, home codexHome, log *slog.Logger) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for {
		if err := tidyOnce(ctx, s, threads, home, time.Now().Add(-idleFor)); err != nil && ctx.Err() == nil {
			log.Warn("old conversations could not be forgotten; this is tried again in an hour", "err", err)
		}
		if err := uploads.Sweep(time.Now().Add(-idleFor)); err != nil {
			log.Warn("old files of messages could not be deleted; this is tried again in an hour", "err", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// tidyOnce is safe to be cut off anywhere: a thread stays on the list of
// leftovers until its file is gone. Nobody uses one on that list: the executor
// has let go of its conversation before the store did, and the store refuses if a
// message has come in between.
func tidyOnce(ctx context.Context, s *store.Store, threads forgetter, home codexHome, before time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, tidyTimeout)
	defer cancel()
	idle, err := s.Idle(ctx, before, tidyAtOnce)
	if err != nil {
		return err
	}
	for _, key := range idle {
		err := threads.Forget(ctx, key)
		if err == nil {
			err = s.ForgetConversation(ctx, key, before)
		}
		if err != nil && !errors.Is(err, executor.ErrBusy) && !errors.Is(err, store.ErrInUse) {
			return err
		}
	}
	left, err := s.Leftovers(ctx, tidyAtOnce)
	if err != nil {
		return err
	}
	var failed error
	for _, thread := range left {
		if ctx.Err() != nil { // each takes a look through the home, which commands may have filled
			return errors.Join(failed, context.Cause(ctx))
		}
		err := home.user.Do(func() error { return appserver.RemoveRollout(home.dir, thread) })
		if err == nil {
			err = s.DropThreads(ctx, thread)
		}
		failed = errors.Join(failed, err) // one that cannot be removed is not in the way of the others
	}
	return failed
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
	err := c.ForgetConversation(ctx, conversation, time.Now())
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
