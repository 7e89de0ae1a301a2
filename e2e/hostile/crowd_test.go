package hostile

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// TestCrowd: more connections than the program may have files, opened by strangers, keep
// no caller out, whatever comes by them.
func TestCrowd(t *testing.T) {
	t.Parallel()
	x := &world{t: t}
	x.launchAs("/bin/sh", []string{"-c", `ulimit -n 256 && exec "$0" serve`, binary}, "RUNTIME_TOKEN="+theToken)
	x.plant()
	for name, begun := range map[string]string{
		"silent": "", "whole": "GET /healthz HTTP/1.1\r\nHost: " + x.addr() + "\r\n\r\n", "unfinished": "GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 15<<10),
	} {
		t.Run(name, func(t *testing.T) {
			for range 300 {
				conn, err := (&net.Dialer{Timeout: patience}).DialContext(t.Context(), "tcp", x.addr())
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				_ = conn.SetDeadline(time.Now().Add(patience))
				_, _ = io.WriteString(conn, begun) // one that is closed takes nothing
			}
			x.unharmed(t)
		})
	}
	if !strings.Contains(x.Log(), "there are too many connections") {
		t.Error("the log does not say so")
	}
	if strings.Contains(x.Log(), "too many open files") {
		t.Error("the program has run out of files")
	}
}
