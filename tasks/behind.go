package tasks

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
