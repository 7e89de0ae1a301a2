package forward

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
)

// TestOneConnectionAtATime has an endpoint that serves one connection until that has ended, and takes no
// WebSocket: what is asked over HTTP does not wait for the connection of the upgrade.
func TestOneConnectionAtATime(t *testing.T) {
	for _, ahead := range []bool{true, false} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan struct{})
		go func() {
			defer close(served)
			for {
				conn, err := ln.Accept()
				if err != nil {
					return
				}
				serve(conn)
			}
		}()
		t.Cleanup(func() {
			_ = ln.Close()
			<-served
		})
		f, _ := start(t)
		c := renewed(t, f, "http://"+ln.Addr().String())
		if f.warming.Wait(); !ahead {
			f.spare.drop()
		}
		if conn, _ := c.dial(t); conn != nil {
			t.Fatal("it takes WebSockets")
		}
		if res := ask(t, c.base+"/responses", "Bearer "+c.token); res.StatusCode != http.StatusOK {
			t.Errorf("ahead %v: %s", ahead, res.Status)
		}
	}
}

// serve answers what is asked on a connection, until its end.
func serve(conn net.Conn) {
	defer conn.Close()
	for in := bufio.NewReader(conn); ; {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		status := "200 OK"
		if r.Method == http.MethodGet {
			status = "404 Not Found"
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 "+status+"\r\nContent-Length: 2\r\n\r\nso")
	}
}
