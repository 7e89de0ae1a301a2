package link

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// A tunnel carries one connection.
type tunnel struct {
	ends [2]net.Conn
	once sync.Once
}

// cut ends it.
func (t *tunnel) cut() {
	t.once.Do(func() {
		for _, end := range t.ends {
			end.Close()
		}
	})
}

// carry gives codex the machine's answer, and then carries what both say until one of them ends.
func (l *Link) carry(w http.ResponseWriter, to net.Conn, answer *http.Response) {
	from, buffer, err := http.NewResponseController(w).Hijack()
	if err != nil {
		to.Close()
		l.log.Error("a connection of codex's cannot be taken over", "err", err)
		return
	}
	t := &tunnel{ends: [2]net.Conn{from, to}}
	if !l.keep(t) {
		return
	}
	defer l.carried.Done()
	defer l.drop(t)
	_, err = fmt.Fprint(from, "HTTP/1.1 101 Switching Protocols\r\n")
	if err == nil {
		err = answer.Header.Write(from)
	}
	if err == nil {
		_, err = io.WriteString(from, "\r\n")
	}
	if err != nil {
		return
	}
	l.carried.Go(func() {
		defer t.cut()
		_, _ = io.Copy(to, buffer) // its end is all that it says
	})
	_, _ = io.Copy(from, to)
}

// keep notes a tunnel, unless sessions are refused by now: then it is cut.
func (l *Link) keep(t *tunnel) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuses != "" {
		t.cut()
		return false
	}
	l.carried.Add(1)
	l.open[t] = true
	return true
}

func (l *Link) drop(t *tunnel) {
	t.cut()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, t)
}
