//go:build !linux

package execs

// awaitDeath waits until the child has ended. Without a way to look before it is reaped, the group is signaled a moment
// after its number became free, which is safe as long as a member of it lives.
func (p *process) awaitDeath() { _ = p.cmd.Wait() }
