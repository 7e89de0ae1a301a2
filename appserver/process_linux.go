package appserver

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// sessionOfItsOwn also has the kernel kill the child when the thread that
// started it dies, which is when we are killed.
func sessionOfItsOwn() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

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
