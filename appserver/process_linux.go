package appserver

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// reap waits until the child has ended, kills what is left of its group while
// the child's number still cannot belong to anybody else, and then reaps it.
func (p *process) reap() {
	for {
		err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killLocked(syscall.SIGKILL)
	p.wait()
	p.reaped = true
}
