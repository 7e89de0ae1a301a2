package tasks

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// An Engine makes A2A tasks of messages. Create it with [New].
type Engine struct {
	cfg Config
	log *slog.Logger

	root context.Context // ends when the engine is closed and done
	stop context.CancelFunc
	wg   sync.WaitGroup // cancels under way and armed timers

	// While a message passes nothing is read that grows with what a task has said: see look.
	admit admission

	staging staging

	full      seldom // the log says that the disk is full
	peerWaits seldom // the user is told that another agent's message waits for a login
	crowded   seldom // it says that too many push notifications wait

	watches watches
	past    past
	texts   atomic.Int64 // bytes of those of tasks that have not ended
	retold  retoldOfAll

	unreadable sync.Map // ids of tasks of which the log says that they are

	live roster
}

var _ a2asrv.RequestHandler = (*Engine)(nil)

// New returns an engine. It starts nothing.
func New(cfg Config) (*Engine, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	e := &Engine{cfg: cfg, log: cfg.Logger}
	e.root, e.stop = context.WithCancel(context.Background())
	return e, nil
}

// Close refuses new messages and waits until every task has ended; its streams
// end after their last event. Tasks end with their turns, so the runner is closed
// first: what a turn does once ctx has ended is not written down. When ctx ends before
// the tasks have, what still waits for them is ended with an error, and so is Close.
// Closing twice is fine.
func (e *Engine) Close(ctx context.Context) error {
	e.admit.close()
	err := e.drain(ctx)
	passed := e.admit.alone()
	e.stop()
	passed()
	for _, t := range e.live.all() {
		t.stop()
	}
	e.wg.Wait()
	return err
}

func (e *Engine) drain(ctx context.Context) error {
	for _, t := range e.live.all() {
		t.setAside()
	}
	open := e.live.all()
	for i, t := range open {
		select {
		case <-t.over:
		case <-ctx.Done():
			return fmt.Errorf("close: %d tasks have not ended: %w", len(open)-i, context.Cause(ctx))
		}
	}
	return nil
}
