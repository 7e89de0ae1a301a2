package linktest

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// mostBytes is how many go together.
	mostBytes = 16 << 10
	// mostChunks is how many may be under way: more than an answer in small pieces has in any
	// distance on Earth. A way that is full holds its sender back, as a full window does.
	mostChunks = 1 << 14
)

// A conn is a connection of a client, and its way to the endpoint and back.
type conn struct {
	u      *Upstream
	near   net.Conn      // to the client
	far    net.Conn      // to the endpoint: one end of a pipe
	opened time.Time     // when TCP's handshake would be over
	idle   *time.Timer   // nil if it may carry nothing for as long as it likes
	lost   atomic.Bool   // what is sent on it is lost
	ended  chan struct{} // closed by cut
	ending sync.Once
}

func newConn(u *Upstream, near, far net.Conn) *conn {
	c := &conn{u: u, near: near, far: far, opened: time.Now().Add(u.link.RoundTrip), ended: make(chan struct{})}
	if u.link.IdleTimeout > 0 {
		c.idle = time.AfterFunc(u.link.IdleTimeout, c.expire)
	}
	return c
}

// A chunk is bytes that are under way. One without bytes is the end of them.
type chunk struct {
	data []byte
	due  time.Time // when they are where they go
}

// run carries bytes both ways until both have ended.
func (c *conn) run() {
	up, down := make(chan chunk, mostChunks), make(chan chunk, mostChunks)
	var ways sync.WaitGroup
	ways.Go(func() { c.collect(c.near, up, c.leaves) })
	ways.Go(func() { c.deliver(up, c.far) })
	ways.Go(func() { c.collect(c.far, down, c.returns) })
	ways.Go(func() { c.deliver(down, c.near) })
	ways.Wait()
	c.cut(FIN)
	c.u.forget(c)
}

// leaves says when n bytes that the client has sent now arrive.
func (c *conn) leaves(n int) time.Time {
	leave := time.Now()
	if c.opened.After(leave) {
		leave = c.opened
	}
	return c.u.sentUp(n, leave)
}

// returns says when n bytes that the endpoint has sent now arrive.
func (c *conn) returns(n int) time.Time {
	c.busy()
	return c.u.sentDown(n)
}

// collect takes what is sent, and says when it is due.
func (c *conn) collect(from io.Reader, way chan<- chunk, due func(int) time.Time) {
	defer close(way)
	for {
		data := make([]byte, mostBytes)
		n, err := from.Read(data)
		if n > 0 && !c.put(way, chunk{data[:n], due(n)}) {
			return
		}
		if err != nil {
			c.put(way, chunk{nil, due(0)})
			return
		}
	}
}

func (c *conn) put(way chan<- chunk, next chunk) bool {
	select {
	case way <- next:
		return true
	case <-c.ended:
		return false
	}
}

// deliver hands on what is due, in its order, and the end of it.
func (c *conn) deliver(way <-chan chunk, to net.Conn) {
	for next := range way {
		if !c.wait(next.due) {
			return
		}
		switch {
		case c.lost.Load() && to == c.near: // which hears of nothing any more
		case next.data == nil:
			_ = to.Close()
		case !c.lost.Load():
			c.hand(next.data, to)
		}
	}
}

// hand hands on some bytes. Where they are not taken, what follows is not either; their
// sender hears of it by the end of the way back.
func (c *conn) hand(data []byte, to net.Conn) {
	if to == c.far {
		c.busy()
	}
	_, _ = to.Write(data)
}

// wait waits until it is time and the link flows. It reports whether the connection is there
// then.
func (c *conn) wait(due time.Time) bool {
	if left := time.Until(due); left > 0 {
		timer := time.NewTimer(left)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.ended:
			return false
		}
	}
	select {
	case <-c.u.flow():
		return true
	case <-c.ended:
		return false
	}
}

// busy notes that the connection carries something.
func (c *conn) busy() {
	if c.idle != nil {
		c.idle.Reset(c.u.link.IdleTimeout)
	}
}

// expire ends a connection that has carried nothing for too long. The client hears of it by
// way of the link.
func (c *conn) expire() {
	if c.u.link.BlackHole {
		c.lost.Store(true)
		return
	}
	_ = c.far.Close()
}

// cut ends the connection on both sides.
func (c *conn) cut(how Ending) {
	c.ending.Do(func() {
		if c.idle != nil {
			c.idle.Stop()
		}
		close(c.ended)
		if how == RST {
			reset(c.near)
		}
		_ = c.near.Close()
		_ = c.far.Close()
	})
}

// reset has the end of a connection be a reset.
func reset(conn net.Conn) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
}
