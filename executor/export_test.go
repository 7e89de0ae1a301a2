package executor

// BeginClose is what [Executor.Close] does before it reaches any job.
func (e *Executor) BeginClose() { e.takeNoMore() }
