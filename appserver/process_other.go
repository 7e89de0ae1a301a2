//go:build unix && !linux

package appserver

import "syscall"

// reap waits for the child and then kills what is left of its group. Without a
// way to look before reaping, the group is signaled a moment after its number
// became free, which is safe as long as a member of it lives.
func (p *process) reap() (reaped bool) {
	p.wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killLocked(syscall.SIGKILL)
	p.reaped = true
	return true
}
