// Package crowd bounds the connections of an HTTP server, in all and for each network that
// they come from, and what the headers of their requests take.
//
// Where there is no room for one more, the connection goes that has waited longest. All wait
// but those whose caller was let in ([LetIn]), until the handler of his request has ended: an
// idle one waits, one that sends its header slowly, a stranger's whatever is answered, and
// one whose answer is not read. It costs its caller a new connection at most. So those who
// open many connections close their own, and keep others out only as long as all of them are
// in the middle of requests of callers who were let in, of which those are none that [Waits]
// was called for.
//
// Who begins to wait does so behind all others. So nobody goes who has just come, and is
// about to be let in.
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

// Most is how many connections a server is to have: two fifths of the files that this process
// may have open, as each may have a file read to it, and no more than 4096.
func Most() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return mostOpen
	}
	return int(min(2*(files.Cur/5), mostOpen))
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

// served has the connection of a request wait again when next has ended: what is left is a
// body that nobody wants, and an answer for its sender to read. A header of too many fields
// does not come to next.
func (c *crowd) served(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at, ok := r.Context().Value(placeKey{}).(place); ok {
			_ = at.conn.SetReadDeadline(time.Time{}) // the handler has deadlines of its own
		}
		if manyFields(r) {
			refuseFields(w, r)
			return
		}
		defer Waits(r.Context())
		next.ServeHTTP(w, r)
	})
}

// LetIn has the connection of a request keep its place until the request is answered: its
// caller has shown what is asked of callers.
func LetIn(request context.Context) {
	if at, ok := request.Value(placeKey{}).(place); ok {
		at.crowd.letIn(at.conn)
	}
}

// Waits has the connection of a request that was let in be one of those that may be closed
// for one more: its caller can come again, and loses nothing.
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
	waiting list.List // of *conn, the one that has waited longest in front
	said    time.Time
	shed    int // since then
}

// A conn is an open connection.
type conn struct {
	net.Conn
	from  netip.Prefix
	waits *list.Element // nil while a request of a caller is answered who was let in
}

// Accept returns the next connection that there is room for.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		came, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		next := &headed{Conn: came}
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
		c.sayLocked(from)
		longest := c.longestLocked(from, full)
		if longest == nil {
			return next
		}
		out = longest.Conn
		c.forgetLocked(longest)
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

// longestLocked returns the connection that has waited longest, of one network or of all; nil if
// none does.
func (c *crowd) longestLocked(from netip.Prefix, alone bool) *conn {
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
	case http.StateActive: // its first word is here; net/http may answer it by itself
		_ = of.SetReadDeadline(time.Now().Add(answerTime))
		fallthrough
	case http.StateIdle:
		if h, ok := of.(*headed); ok && is == http.StateIdle {
			h.next()
		}
		c.busyLocked(known)
		known.waits = c.waiting.PushBack(known)
	case http.StateClosed, http.StateHijacked:
		c.forgetLocked(known)
	}
}

// letIn takes a connection from those that wait.
func (c *crowd) letIn(of net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.conns[of]; ok {
		c.busyLocked(known)
	}
}

// waits puts a connection behind those that wait, unless it is one of them.
func (c *crowd) waits(of net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, ok := c.conns[of]; ok && known.waits == nil {
		known.waits = c.waiting.PushBack(known)
	}
}

// busyLocked takes a connection from those that wait.
func (c *crowd) busyLocked(known *conn) {
	if known.waits != nil {
		c.waiting.Remove(known.waits)
		known.waits = nil
	}
}

// forgetLocked takes a connection out.
func (c *crowd) forgetLocked(known *conn) {
	c.busyLocked(known)
	delete(c.conns, known.Conn)
	if c.count[known.from]--; c.count[known.from] == 0 {
		delete(c.count, known.from)
	}
}

// sayLocked writes of a crowd if it is time to.
func (c *crowd) sayLocked(from netip.Prefix) {
	c.shed++
	now := time.Now()
	if now.Sub(c.said) < saidEvery {
		return
	}
	c.log.Warn("there are too many connections, and some are closed", slog.String("network", from.String()),
		slog.Int("open", len(c.conns)), slog.Int("most", c.most), slog.Int("closed", c.shed))
	c.said, c.shed = now, 0
}
