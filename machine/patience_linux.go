package machine

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// patience has the connection of a request end when what was sent on it is not received for as long as that:
// a peer whose machine has gone without a word.
func patience(request context.Context, limit time.Duration) {
	conn := socketOf(request)
	if conn == nil {
		return
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // a kernel without it has its own limit
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(limit.Milliseconds()))
	})
}
