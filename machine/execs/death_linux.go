package execs

import (
	"errors"

	"golang.org/x/sys/unix"
)

// awaitDeath waits until the child has ended, and leaves it to be reaped: until then its number, and that of its
// group, cannot be another's.
func (p *process) awaitDeath() {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
