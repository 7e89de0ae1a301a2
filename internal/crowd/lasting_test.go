package crowd

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A failing listener fails so often, then has a connection, and then is closed.
type failing struct {
	net.Listener
	times int
}

func (f *failing) Addr() net.Addr { return &net.TCPAddr{} }

func (f *failing) Accept() (net.Conn, error) {
	f.times--
	switch {
	case f.times > 0:
		return nil, &net.OpError{Op: "accept", Err: syscall.ENOSPC}
	case f.times == 0:
		return &net.TCPConn{}, nil
	}
	return nil, net.ErrClosed
}

func TestLasting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		began := time.Now()
		ln := Lasting(&failing{times: 100}, slog.New(slog.NewTextHandler(&said, nil)))
		if conn, err := ln.Accept(); conn == nil || err != nil {
			t.Errorf("%v, %v", conn, err)
		}
		if took := time.Since(began); took < 80*time.Second || took > 100*time.Second {
			t.Errorf("it took %v", took)
		}
		if n := strings.Count(said.String(), "no space left"); n != 2 {
			t.Errorf("said %d times: %s", n, &said)
		}
		if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	})
}
