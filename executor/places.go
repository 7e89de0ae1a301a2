package executor

import "slices"

// unqueue takes j out of its queue and reports whether it was still there. If so
// the caller has been added to e.wg, which is not empty yet: the goroutine that
// serves the queue has not seen the end of it.
func (e *Executor) unqueue(j *job) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	q := e.queues[j.Context]
	if q == nil { // it has ended in the meantime
		return false
	}
	for i, waiting := range q.jobs {
		if waiting == j {
			q.jobs = append(q.jobs[:i], q.jobs[i+1:]...)
			e.adoptLocked(q, j)
			e.wg.Add(1)
			return true
		}
	}
	return false
}

// adoptLocked gives q what an earlier process has handed to the turn of j,
// which is out of the queue itself and has no turn. What was canceled stays with j:
// orphaned ends it.
func (e *Executor) adoptLocked(q *queue, j *job) {
	e.enterLocked(j, stageClosing)
	for _, s := range j.steers {
		if s.ctx.Err() == nil {
			s.into = nil
			e.enterLocked(s, stageQueued)
			q.insertLocked(s)
		}
	}
	j.steers = slices.DeleteFunc(j.steers, func(s *job) bool { return s.into == nil })
}

// insertLocked puts a message into the queue in the place that its acceptance has given it.
func (q *queue) insertLocked(s *job) {
	at := slices.IndexFunc(q.jobs, func(waiting *job) bool { return waiting.seq > s.seq })
	if at < 0 {
		at = len(q.jobs)
	}
	q.jobs = slices.Insert(q.jobs, at, s)
}
