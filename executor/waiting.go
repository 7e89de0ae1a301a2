package executor

// somebodyIsThere reports whether a job waits.
func (e *Executor) somebodyIsThere() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.waiting > 0
}

// whoWaits reports whether a job waits for a turn that is not another agent's, and whether
// there are jobs that are.
func (e *Executor) whoWaits() (user, peers bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, j := range e.jobs {
		peers = peers || j.Peer
		user = user || !j.Peer && !j.told && !j.turned && j.into == nil
	}
	return user, peers
}
