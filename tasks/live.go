package tasks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A roster has the tasks that have not ended. The zero value is ready.
type roster struct {
	mu    sync.Mutex // guards tasks
	tasks map[a2a.TaskID]*task
}

// all returns the tasks.
func (r *roster) all() []*task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.tasks))
}

func (r *roster) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.tasks)
}

// find returns a task, or nil if it has ended or is not known.
func (r *roster) find(id a2a.TaskID) *task {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tasks[id]
}

func (r *roster) add(t *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tasks == nil {
		r.tasks = map[a2a.TaskID]*task{}
	}
	r.tasks[t.id] = t
}

func (r *roster) remove(id a2a.TaskID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.tasks, id)
}

// forget leaves a task that has ended to the journal and its readers.
func (e *Engine) forget(t *task) {
	t.forgetPast()
	t.countTexts(false)
	t.retold.forget()
	e.live.remove(t.id)
}

// ofConversation returns the tasks of a conversation that have not ended, also those that went aside.
func (e *Engine) ofConversation(conversation string) []*task {
	return slices.DeleteFunc(e.live.all(), func(t *task) bool { return !t.isOf(conversation) })
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
	return int64(max(leastBehind, min(mostBehind, allBehind/max(1, e.live.count()))))
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
