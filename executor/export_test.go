package executor

// BeginClose is what [Executor.Close] does before it reaches any job.
func (e *Executor) BeginClose() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
}
