package sim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A life is the runtime from a start to its death, or its end.
type life struct {
	n        int
	store    *store.Store
	journal  *journal
	driver   *driver
	executor *executor.Executor
	engine   *tasks.Engine
	over     chan struct{} // closed when it is dead
	ends     sync.Once
	buried   sync.WaitGroup
}

// live builds the runtime on what the one before has kept.
func (r *run) live(n int) (*life, error) {
	kept, err := store.Open(context.Background(), store.Config{Dir: r.dir, Logger: r.log, Reserve: -1})
	if err != nil {
		return nil, err
	}
	l := &life{n: n, store: kept, over: make(chan struct{})}
	l.journal = &journal{Store: kept, w: r.world, life: n, strikes: r.strikesAt(l)}
	l.driver = newDriver(r.world, n, r.strikesAtStart(l))
	l.executor = executor.New(executor.Config{
		MaxTurns: 2, MaxQueue: r.world.weather.queue, Journal: tasks.Book(l.journal), StartWait: 2 * time.Minute,
		TurnTimeout: turnFor, IdleTimeout: idleFor, ItemTimeout: itemFor, Logger: r.log.With("life", n),
	}, l.driver)
	l.engine, err = tasks.New(tasks.Config{
		Runner: l.executor, Watchers: executor.Watchers{watcher{r, l}}, Journal: l.journal, MidTurn: r.world.weather.midTurn, Logger: r.log.With("life", n),
	})
	if err != nil {
		return nil, err
	}
	r.story.tell("", "life %d begins", n)
	if err := l.engine.Recover(context.Background()); err != nil && !l.journal.dead.Load() {
		l.die(r)
		l.buried.Wait()
		return nil, fmt.Errorf("recover: %w", err)
	}
	return l, nil
}

// die is kill -9: nothing is written any more, and nothing that is done is seen. What still runs of it is cleared away.
func (l *life) die(r *run) {
	l.ends.Do(func() {
		r.story.tell("", "life %d is killed", l.n)
		l.journal.dead.Store(true)
		close(l.over)
		l.driver.die()
		l.buried.Go(func() { _ = l.clear() })
	})
}

// stop is SIGTERM. If it drains, what has begun may end first, for a while; else it is cut off at once.
func (l *life) stop(r *run, drains bool, patience time.Duration) {
	synctest.Wait() // what begins at this instant has begun
	l.ends.Do(func() {
		r.story.tell("", "life %d is stopped; it drains: %t", l.n, drains)
		l.driver.stops()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if drains {
			_ = l.executor.Drain(ctx) // what has not ended by then is cut off
		}
		if err := l.executor.Close(context.Background()); err != nil {
			r.books.fault(nil, "the executor does not close: %v", err)
		}
		_ = l.engine.Close(ctx) // with what tasks have had until now: the next life goes on with them
		l.journal.dead.Store(true)
		close(l.over)
		l.buried.Go(func() { _ = l.store.Close() })
	})
}

// clear ends what still runs of a runtime that is dead.
func (l *life) clear() error {
	done, cancel := context.WithCancel(context.Background())
	cancel()
	return errors.Join(l.executor.Close(done), l.engine.Close(done), l.store.Close())
}

// faults are those that the log tells of.
type faults struct {
	slog.Handler
	story *story
	found func(string)
	lacks func(task string)
}

func (f faults) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }

func (f faults) Handle(_ context.Context, rec slog.Record) error {
	job, task, text := "", "", rec.Message
	rec.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "job":
			job = a.Value.String()
		case "task_id":
			task = a.Value.String()
		}
		text += fmt.Sprintf(" %s=%v", a.Key, a.Value)
		return true
	})
	f.story.tell(job, "log: %s", text)
	if strings.HasPrefix(rec.Message, "a task could not be saved") && strings.Contains(text, errFull.Error()) {
		f.lacks(task)
	}
	if rec.Message == "a job has gone a way that there is not" {
		f.found(text)
	}
	return nil
}

func (f faults) WithAttrs([]slog.Attr) slog.Handler { return f }
