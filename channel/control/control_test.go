package control

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
)

// TestProbesAreFew: of its 64 connections this machine has 56, and for one more one of these goes.
func TestProbesAreFew(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	door := Serve(ln, http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	defer door.Close()
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	answers := func(conn net.Conn) bool {
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return false
		}
		return res.Body.Close() == nil
	}
	var conns []net.Conn
	for range 56 {
		conns = append(conns, dial())
	}
	for i, conn := range conns {
		if !answers(conn) {
			t.Fatalf("the connection %d of 56 is closed", i+1)
		}
	}
	if !answers(dial()) {
		t.Error("one more has no answer")
	}
	if conns = slices.DeleteFunc(conns, answers); len(conns) != 1 {
		t.Errorf("for one more %d others are closed", len(conns))
	}
}

// TestChannelSocketIsItsOwners from the moment that it is there.
func TestChannelSocketIsItsOwners(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	path := filepath.Join(t.TempDir(), "s")
	ln, err := listenPrivately(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	path += "2"
	made := net.ListenConfig{Control: private}
	other, err := made.Listen(context.Background(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("before its rights are changed: %v %v", info.Mode(), err)
	}
}
