package hostile

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestCrowd: more connections than the program may have files, opened by strangers, keep
// no caller out, whatever comes by them.
func TestCrowd(t *testing.T) {
	t.Parallel()
	x := &world{t: t}
	x.launchAs("/bin/sh", withFewFiles(), "RUNTIME_TOKEN="+theToken)
	x.plant()
	for name, begun := range map[string]string{
		"refused before their bodies":  "POST / HTTP/1.1\r\nHost: " + x.addr() + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n",
		"without a form":               "POST /console/login HTTP/1.1\r\nHost: " + x.addr() + "\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n",
		"answered before their bodies": "GET /healthz HTTP/1.1\r\nHost: " + x.addr() + "\r\nContent-Length: 100\r\n\r\n",
		"about nothing":                "OPTIONS * HTTP/1.1\r\nHost: " + x.addr() + "\r\nContent-Length: 100\r\n\r\n",
		"with an odd wish":             "POST / HTTP/1.1\r\nHost: " + x.addr() + "\r\nExpect: x\r\nContent-Length: 100\r\n\r\n",
		"silent":                       "", "whole": "GET /healthz HTTP/1.1\r\nHost: " + x.addr() + "\r\n\r\n", "unfinished": "GET / HTTP/1.1\r\nX: " + strings.Repeat("x", 15<<10),
	} {
		t.Run(name, func(t *testing.T) {
			x.throng(t, 300, begun)
			x.unharmed(t)
		})
	}
	for name, asked := range map[string]string{
		"unread downloads": x.large(t), "unread": "/console/static/app.css", "unread about nothing": "/nothing", "unread probes": "/healthz", "unread cards": "/.well-known/agent-card.json",
	} {
		t.Run(name, func(t *testing.T) {
			x.unread(t, 300, strings.Repeat("GET "+asked+" HTTP/1.1\r\nHost: "+x.addr()+"\r\n\r\n", 400))
			x.unharmed(t)
		})
	}
	x.crowded(t, 102)
	if strings.Contains(x.Log(), "too many open files") {
		t.Error("the program has run out of files")
	}
}

// withFewFiles has a shell start the program, with 102 connections at most.
func withFewFiles() []string { return []string{"-c", `ulimit -n 256 && exec "$0" serve`, binary} }

// TestCrowdOfPeers: another agent that waits by all connections there are, which are the
// platform's as the user's are, does not keep the user out.
func TestCrowdOfPeers(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", allowed+":0") // takes connections, and does not answer
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	x := newWorkspaceAs(t, "/bin/sh", withFewFiles(), "RUNTIME_ALLOW_NETWORKS="+allowed+"/32")
	begun := func(method, params string) string {
		return x.ours(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`).text(x.addr())
	}
	said := func(blocking bool) string {
		return fmt.Sprintf(`{"message":{"kind":"message","role":"user","messageId":"a-peers","parts":[{"kind":"text","text":"run sleep 300"}]},"metadata":{"source_workspace_id":"bob"},"configuration":{"blocking":%v}}`, blocking)
	}
	first := exchange(x.addr(), begun("message/send", said(false)), false, "POST")
	id := regexp.MustCompile(`"(?:id|taskId)":"([0-9a-f-]{36})"`).FindStringSubmatch(first.body)
	if id == nil {
		t.Fatalf("the peer's task: %s", first)
	}
	for name, request := range map[string]string{
		"subscriptions": begun("tasks/resubscribe", `{"id":"`+id[1]+`"}`), "streams": begun("message/stream", said(true)),
	} {
		t.Run(name, func(t *testing.T) {
			x.unread(t, 300, request)
			x.reached(t)
			x.unharmed(t)
		})
	}
	t.Run("files that do not come", func(t *testing.T) {
		x.throng(t, 300, begun("message/send", `{"message":{"kind":"message","role":"user","messageId":"a-file","parts":[{"kind":"file","file":{"uri":"http://`+silent.Addr().String()+`/a.txt"}}]},"metadata":{"source_workspace_id":"bob"}}`))
		x.reached(t)
		if strings.Contains(x.Log(), "files of a message are not to be had") {
			t.Error("the user was kept out until the files were given up")
		}
		x.unharmed(t)
	})
	x.crowded(t, 102)
}

// reached waits until the program answers the user. Where each connection there is room for has a
// request that is still being looked at, the user's is closed, and the user comes again.
func (x *world) reached(t *testing.T) {
	t.Helper()
	progtest.WaitFor(t, "an answer for the user", func() bool {
		return x.send(x.ours(message("reached-"+t.Name(), "say reached"))).err == nil
	})
}

// TestTurnsOfPeers: another agent's turns, and what it has in the queue, leave the user one to
// have at once.
func TestTurnsOfPeers(t *testing.T) {
	t.Parallel()
	x := newWorkspace(t)
	for n := range 8 {
		a := x.send(x.ours(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","role":"user","messageId":"p-%d","contextId":"c-%d","parts":[{"kind":"text","text":"run sleep 300"}]},"metadata":{"source_workspace_id":"bob"},"configuration":{"blocking":false}}}`, n, n)))
		if a.status != 200 {
			t.Fatalf("message %d: %s", n, a)
		}
	}
	x.unharmed(t)
}

// throng opens connections, begins something on each, and leaves them open.
func (x *world) throng(t *testing.T, many int, begun string) {
	t.Helper()
	for range many {
		x.begin(t, begun)
	}
}

// large is the path of a file that was handed out, of which a connection is full.
func (x *world) large(t *testing.T) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(x.Work, "large.bin"), make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	got := x.send(x.ours(message("large", "say see [it](large.bin)")))
	found := regexp.MustCompile(`/files/[^"]+`).FindString(got.body)
	if found == "" {
		t.Fatalf("no file was handed out: %s", got)
	}
	return found
}

// unread opens connections and asks for more on each than it reads, which is one byte.
func (x *world) unread(t *testing.T, many int, text string) {
	t.Helper()
	var all []net.Conn
	for range many {
		all = append(all, x.beginBy(t, &net.Dialer{Timeout: patience, Control: takingLittle}, text))
	}
	for _, conn := range all { // it is being answered then, or it was closed
		_, _ = conn.Read(make([]byte, 1))
	}
}

// takingLittle has a connection be full of a few answers that are not read.
func takingLittle(_, _ string, socket syscall.RawConn) error {
	return socket.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 2048)
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 536)
	})
}

// begin opens a connection, sends what begins something, and leaves it open.
func (x *world) begin(t *testing.T, text string) net.Conn {
	t.Helper()
	return x.beginBy(t, &net.Dialer{Timeout: patience}, text)
}

func (x *world) beginBy(t *testing.T, dialer *net.Dialer, text string) net.Conn {
	t.Helper()
	conn, err := dialer.DialContext(t.Context(), "tcp", x.addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, text) // one that is closed takes nothing
	return conn
}

// crowded waits until the log says that a listener was full, and with how many.
func (x *world) crowded(t *testing.T, most int) {
	t.Helper()
	progtest.WaitFor(t, fmt.Sprintf("the log to say so of %d connections", most), func() bool {
		text := x.Log()
		return strings.Contains(text, "there are too many connections") && strings.Contains(text, fmt.Sprintf(`"open":%d,"most":%d,`, most-most/8, most))
	})
}
