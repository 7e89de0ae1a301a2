// Package crowd bounds the connections of an HTTP server, in all and for each network that
// they come from.
//
// Where there is no room for one more, the connection goes that has waited longest for the
// header of a request: an idle one, or one that sends its header slowly. It costs its caller
// a new connection at most. So those who open many connections close their own, and keep
// others out only as long as all of their connections are in the middle of requests, of which
// those are none that [Waits] was called for.
package crowd

import (
	"container/list"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/caller"
)

const (
	// mostOpen bounds the connections of a process that may have more.
	mostOpen  = 4096
	saidEvery = time.Minute
	// answerTime is how long net/http has for a request that it answers itself: one for "*", one
	// that expects what it does not know, one whose header is wrong.
	answerTime = 10 * time.Second
)

// Most is how many connections a server is to have: half of the files that this process
// may have open, and no more than 4096.
func Most() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return mostOpen
	}
	return int(min(files.Cur/2, mostOpen))
}

// Bound returns ln with at most that many connections open, of which this machine gets all
// but an eighth, and every other network a quarter. Srv must serve what it returns, and
// nothing else; its ConnState and ConnContext are taken, and its Handler is wrapped. Log
// hears once a minute that there is no room.
func Bound(srv *http.Server, ln net.Listener, most int, log *slog.Logger) net.Listener {
	c := &crowd{
		Listener: Lasting(ln, log), log: log, most: most,
		conns: map[net.Conn]*conn{}, count: map[netip.Prefix]int{},
	}
	srv.ConnState = c.state
	srv.ConnContext = func(ctx context.Context, of net.Conn) context.Context {
		return context.WithValue(ctx, placeKey{}, place{c, of})
	}
	srv.Handler = c.served(srv.Handler)
	return c
}

type placeKey struct{}

// A place is a connection in its crowd.
type place struct {
	crowd *crowd
	conn  net.Conn
}

// served takes the connection of a request that has come to next from those that wait.
func (c *crowd) served(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at, ok := r.Context().Value(placeKey{}).(place); ok {
			at.crowd.serves(at.conn)
		}
		next.ServeHTTP(w, r)
	})
}

// Waits has the connection of a request be closed before others for one more: what is waited
// for on it is a stranger's to send, or is not read.
func Waits(request context.Context) {
	if at, ok := request.Value(placeKey{}).(place); ok {
		at.crowd.waits(at.conn)
	}
}

// A crowd is the connections of one listener.
type crowd struct {
	net.Listener
	log  *slog.Logger
	most int

	mu      sync.Mutex // guards the fields below
	conns   map[net.Conn]*conn
	count   map[netip.Prefix]int
	waiting list.List // of *conn that have no whole header of a request, the longest in front
	said    time.Time
	shed    int // since then
}

// A conn is an open connection.
type conn struct {
	net.Conn
	from  netip.Prefix
	waits *list.Element // mostly nil while a request is answered
}

// Accept returns the next connection that there is room for.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		next, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		out := c.enter(next)
		if out != nil {
			_ = out.Close()
		}
		if out != next {
			return next, nil
		}
	}
}

// enter lets a connection in, and returns the one that is to be closed for it, which may be
// itself; nil if there is room.
func (c *crowd) enter(next net.Conn) net.Conn {
	from := caller.Network(next.RemoteAddr().String())
	c.mu.Lock()
	defer c.mu.Unlock()
	var out net.Conn
	if full := c.count[from] >= c.mostOf(from); full || len(c.conns) >= c.most {
		c.say(from)
		longest := c.longest(from, full)
		if longest == nil {
			return next
		}
		out = longest.Conn
		c.forget(longest)
	}
	in := &conn{Conn: next, from: from}
	in.waits = c.waiting.PushBack(in)
	c.conns[next] = in
	c.count[from]++
	return out
}

// mostOf is how many connections a network may have.
func (c *crowd) mostOf(from netip.Prefix) int {
	if from.Addr().IsLoopback() {
		return max(1, c.most-c.most/8)
	}
	return max(1, c.most/4)
}

// longest returns the connection that has waited longest, of one network or of all; nil if
// none does. The caller holds c.mu.
func (c *crowd) longest(from netip.Prefix, alone bool) *conn {
	for e := c.waiting.Front(); e != nil; e = e.Next() {
		if waits := e.Value.(*conn); !alone || waits.from == from {
			return waits
		}
	}
	return nil
}

// state hears of a connection from net/http, which calls one active when it has the header
// of a request.
func (c *crowd) state(of net.Conn, is http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.conns[of]
	if !ok {
		return // it was shed
	}
	switch is {
	case http.StateNew: // it waits since it was accepted
	case http.StateActive: // by itself, until the handler has it
		_ = of.SetReadDeadline(time.Now().Add(answerTime))
		fallthrough
	case http.StateIdle:
		c.busy(known)
		known.waits = c.waiting.PushBack(known)
	case http.StateClosed, http.StateHijacked:
		c.forget(known)
	}
}

// serves says that a request has come to its handler, which has deadlines of its own.
func (c *crowd) serves(of net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.conns[of]; ok {
		c.busy(known)
		_ = of.SetReadDeadline(time.Time{})
	}
}

// waits puts a connection in front of those that wait, until its next request.
func (c *crowd) waits(of net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.conns[of]; ok && known.waits == nil {
		known.waits = c.waiting.PushFront(known)
	}
}

// busy takes a connection from those that wait. The caller holds c.mu.
func (c *crowd) busy(known *conn) {
	if known.waits != nil {
		c.waiting.Remove(known.waits)
		known.waits = nil
	}
}

// forget takes a connection out. The caller holds c.mu.
func (c *crowd) forget(known *conn) {
	c.busy(known)
	delete(c.conns, known.Conn)
	if c.count[known.from]--; c.count[known.from] == 0 {
		delete(c.count, known.from)
	}
}

// say writes of a crowd if it is time to. The caller holds c.mu.
func (c *crowd) say(from netip.Prefix) {
	c.shed++
	now := time.Now()
	if now.Sub(c.said) < saidEvery {
		return
	}
	c.log.Warn("there are too many connections, and some are closed", slog.String("network", from.String()),
		slog.Int("open", len(c.conns)), slog.Int("most", c.most), slog.Int("closed", c.shed))
	c.said, c.shed = now, 0
}
