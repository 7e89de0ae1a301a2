package crowd

import (
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"
)

// Lasting returns ln, which fails only when it is closed. A server ends when its listener
// fails, and takes little for a passing fault: not what all processes of a user share, such as
// the number of files that are waited for (fs.epoll.max_user_watches on Linux), of which one
// command can take all. Log hears of it once a minute.
func Lasting(ln net.Listener, log *slog.Logger) net.Listener {
	return &lasting{Listener: ln, log: log, closed: make(chan struct{})}
}

type lasting struct {
	net.Listener
	log    *slog.Logger
	said   time.Time
	once   sync.Once
	closed chan struct{}
}

const (
	shortestPause = 5 * time.Millisecond
	longestPause  = time.Second
)

// Accept is called by one goroutine.
func (l *lasting) Accept() (net.Conn, error) {
	for pause := shortestPause; ; pause = min(2*pause, longestPause) {
		conn, err := l.Listener.Accept()
		if err == nil || errors.Is(err, net.ErrClosed) {
			return conn, err
		}
		if now := time.Now(); now.Sub(l.said) >= saidEvery {
			l.log.Warn("connections cannot be taken; this is tried again until they can", slog.String("address", l.Addr().String()), slog.Any("err", err))
			l.said = now
		}
		select {
		case <-time.After(pause):
		case <-l.closed: // which the next try says
		}
	}
}

// Close also ends a pause.
func (l *lasting) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}
