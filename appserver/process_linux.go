package appserver

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// traced is how long a child that has died may take until it can be reaped.
const traced = time.Second

// reap waits until the child has ended, kills what is left of its group while
// the child's number still cannot belong to anybody else, and then reaps it. A process of the
// child's user that traces it can keep that from us, for as long as it lives: then it is not
// reaped yet.
func (p *process) reap() (reaped bool) {
	p.awaitDeath()
	reaped = p.endsWithin(traced)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killLocked(syscall.SIGKILL)
	p.reaped = true
	if reaped {
		p.wait()
	}
	return reaped
}

// endsWithin waits until the child can be reaped, for as long as that.
func (p *process) endsWithin(limit time.Duration) bool {
	late := time.NewTimer(limit)
	defer late.Stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for !p.ended(unix.WNOHANG) {
		select {
		case <-look.C:
		case <-late.C:
			return false
		}
	}
	return true
}

// awaitDeath waits until the child has died, whoever traces it.
func (p *process) awaitDeath() {
	fd, err := unix.PidfdOpen(p.cmd.Process.Pid, 0)
	if err != nil { // an old kernel, or a filter
		p.ended(0)
		return
	}
	defer unix.Close(fd)
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// ended reports whether the child can be reaped, and waits for that unless told otherwise.
func (p *process) ended(how int) bool {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT|how, nil)
		if !errors.Is(err, unix.EINTR) {
			return err != nil || info.Signo != 0
		}
	}
}
