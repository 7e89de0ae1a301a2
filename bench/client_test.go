package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A client speaks 1.0 and does as little as will do.
type client struct {
	b         *testing.B
	url       string
	contextID string
	http      *http.Client
	read      *atomic.Int64 // bytes that came over its connections
}

// lastMessage numbers the messages of all clients.
var lastMessage atomic.Int64

// newClient returns a client with connections of its own. A window of more than 0
// bytes keeps the kernel from taking much for a client that does not read.
func newClient(b *testing.B, url, contextID string, window int) *client {
	c := &client{b: b, url: url, contextID: contextID, read: &atomic.Int64{}}
	transport := &http.Transport{
		DisableCompression: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := (&net.Dialer{Control: narrow(window)}).DialContext(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return countedConn{conn, c.read}, nil
		},
	}
	c.http = &http.Client{Transport: transport}
	b.Cleanup(transport.CloseIdleConnections)
	return c
}

// narrow bounds what the kernel takes for a connection before it is made: later
// it would have promised more already.
func narrow(window int) func(network, addr string, conn syscall.RawConn) error {
	if window == 0 {
		return nil
	}
	return func(_, _ string, conn syscall.RawConn) (err error) {
		controlErr := conn.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, window)
		})
		return errors.Join(controlErr, err)
	}
}

type countedConn struct {
	net.Conn
	read *atomic.Int64
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
	return n, err
}

// call posts a request; the caller closes the answer's body.
func (c *client) call(method string, params any) io.ReadCloser {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		c.b.Fatal(err)
	}
	res, err := c.http.Post(c.url+"/", "application/json", bytes.NewReader(body))
	if err != nil {
		c.b.Fatal(err)
	}
	return res.Body
}

func (c *client) message(text string) any {
	return map[string]any{"message": map[string]any{
		"messageId": fmt.Sprintf("m%d", lastMessage.Add(1)), "role": "ROLE_USER", "contextId": c.contextID,
		"parts": []any{map[string]any{"text": text}},
	}}
}

// send sends a message, waits for its answer, which must be want, and returns
// how long that took.
func (c *client) send(text, want string) time.Duration {
	c.b.Helper()
	began := time.Now()
	body := c.call("SendMessage", c.message(text))
	defer body.Close()
	answer, err := io.ReadAll(body)
	took := time.Since(began)
	if err != nil {
		c.b.Fatal(err)
	}
	var got struct{ Result struct{ Task taskText } }
	if err := json.Unmarshal(answer, &got); err != nil || got.Result.Task.Status.State != "TASK_STATE_COMPLETED" || got.Result.Task.text() != want {
		c.b.Fatalf("SendMessage: %v: want %.100q in %.2000s", err, want, answer)
	}
	return took
}

// taskText is what the benchmarks read of a task.
type taskText struct {
	Status    struct{ State string }
	Artifacts []artifactText
}

type artifactText struct {
	ID    string `json:"artifactId"`
	Parts []struct{ Text string }
}

func (t taskText) text() string {
	var all strings.Builder
	for _, artifact := range t.Artifacts {
		for _, part := range artifact.Parts {
			all.WriteString(part.Text)
		}
	}
	return all.String()
}

// in returns a client of another context on the same connections.
func (c *client) in(contextID string) *client {
	other := *c
	other.contextID = contextID
	return &other
}

// get returns the body of a page, and its status.
func (c *client) get(path string) (string, int) {
	c.b.Helper()
	res, err := c.http.Get(c.url + path)
	if err != nil {
		c.b.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		c.b.Fatal(err)
	}
	return string(body), res.StatusCode
}

// checked waits until the checks that the program makes at its start are done,
// whatever they say: a codex that is none does not pass.
func (c *client) checked() {
	c.b.Helper()
	_, _ = c.get("/readyz")
}

// ready waits until the program would run a turn, so that the checks it makes
// at its start disturb nothing.
func (c *client) ready() {
	c.b.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		page, status := c.get("/readyz")
		if status == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			c.b.Fatalf("not ready: %s", page)
		}
		time.Sleep(time.Millisecond)
	}
}
