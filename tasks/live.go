package tasks

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// tasks returns the tasks that have not ended.
func (e *Engine) tasks() []*task {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Values(e.live))
}

// find returns a task that has not ended, or nil.
func (e *Engine) find(id a2a.TaskID) *task {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.live[id]
}

func (e *Engine) remember(t *task) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.live[t.id] = t
}

// forget leaves a task that has ended to the journal and its readers.
func (e *Engine) forget(t *task) {
	t.forgetPast()
	t.countTexts(false)
	t.retold.forget()
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.live, t.id)
}

// ofConversation returns the tasks of a conversation that have not ended, also those that went aside.
func (e *Engine) ofConversation(conversation string) []*task {
	e.mu.Lock()
	defer e.mu.Unlock()
	var found []*task
	for _, t := range e.live {
		if t.isOf(conversation) {
			found = append(found, t)
		}
	}
	return found
}

// What readers who are behind keep in memory, in bytes of events: so much for a task, or
// less where many tasks run. A reader that is further behind reads from the journal until
// it has caught up.
const (
	mostBehind  = 4 << 20   // of one task
	leastBehind = 256 << 10 // what each task may have, however many there are
	allBehind   = 32 << 20  // of all tasks
)

// behind is how far a reader of one of the tasks may be behind.
func (e *Engine) behind() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return int64(max(leastBehind, min(mostBehind, allBehind/max(1, len(e.live)))))
}

// wait waits for ch, the end of ctx, or that of the engine.
func (e *Engine) wait(ctx context.Context, ch <-chan struct{}) error {
	select {
	case <-ch:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the task: %w", context.Cause(ctx))
	case <-e.root.Done():
	}
	select { // what the engine's last tasks said still counts
	case <-ch:
		return nil
	default:
		return errGone
	}
}

// promise waits until what was accepted survives the end of the machine, too, for
// a caller who goes away: the turn is under way meanwhile. Whoever stays to hear
// the end comes again if he does not.
func (e *Engine) promise(ctx context.Context) error {
	err := e.cfg.Journal.Sync(ctx)
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return e.journalError("bring the message to the disk", err)
}
