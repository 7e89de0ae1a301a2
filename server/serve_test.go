package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A running server that a test ends with stop.
type running struct {
	url  string
	addr string
	dial func(ctx context.Context, network, addr string) (net.Conn, error) // nil is over TCP
	srv  *Server
	stop context.CancelFunc
	done chan error
}

// smallBuffers makes the kernel hold little of what a reader does not take.
type smallBuffers struct{ net.Listener }

func (l smallBuffers) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tc, ok := c.(*net.TCPConn); ok {
		_ = tc.SetWriteBuffer(4 << 10)
	}
	return c, err
}

func serve(t *testing.T, cfg Config) *running {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &running{url: "http://" + ln.Addr().String(), addr: ln.Addr().String(), srv: newServer(t, cfg)}
	r.serve(t, smallBuffers{ln})
	return r
}

// serve begins to serve ln, and ends that with the test.
func (r *running) serve(t *testing.T, ln net.Listener) {
	ctx, cancel := context.WithCancel(context.Background())
	r.stop, r.done = cancel, make(chan error, 1)
	go func() { r.done <- r.srv.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		r.wait(t)
	})
}

// long is what a test waits for something that is to come at once: whatever holds
// the machine up is over by then.
const long = 40 * time.Second

// wait waits for Serve to return and says what it returned.
func (r *running) wait(t *testing.T) {
	t.Helper()
	select {
	case err, ok := <-r.done:
		if ok && err != nil {
			t.Errorf("Serve = %v", err)
		}
		if ok {
			close(r.done)
		}
	case <-time.After(long):
		t.Fatal("Serve does not return")
	}
}

func open(t *testing.T, r *running, body string) *http.Response {
	t.Helper()
	return ask(t, r, http.MethodPost, "/", body)
}

// ask makes a request and returns its answer as soon as that begins.
func ask(t *testing.T, r *running, method, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := r.transport(t).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// An end is how a stream of the handler ended.
type end struct {
	id  string // of the message
	err error  // of its context
}

// flood yields chunks until its context ends or nobody reads.
func flood(ended chan<- end) func(context.Context, *a2a.SendMessageRequest) unplaced {
	chunk := a2a.NewTextPart(strings.Repeat("x", 1<<10))
	return func(ctx context.Context, req *a2a.SendMessageRequest) unplaced {
		return func(yield func(a2a.Event, error) bool) {
			defer func() { ended <- end{req.Message.ID, ctx.Err()} }()
			n := 200_000
			if req.Message.ID == "short" {
				n = 2_000
			}
			for range n {
				if !yield(&a2a.TaskArtifactUpdateEvent{TaskID: "T", ContextID: "C", Append: true,
					Artifact: &a2a.Artifact{ID: "A", Parts: a2a.ContentParts{chunk}}}, nil) {
					return
				}
			}
		}
	}
}

func TestStalledReaderIsDropped(t *testing.T) {
	t.Parallel()
	requests := map[string][2]string{ // a path and a body, by the id of the message
		"v1": {"/", v1Stream}, "v0": {"/", v0Stream}, "rest": {"/message:stream", restHi}, "v0REST": {"/v1/message:stream", v0RESTHi},
	}
	ended := make(chan end, len(requests)+1)
	r := serve(t, Config{Handler: &fakeHandler{stream: flood(ended)}, WriteTimeout: 5 * time.Second})
	begin := time.Now()
	for id, c := range requests {
		stall(t, r, c[0], withID(c[1], id))
	}

	// Another reader is served meanwhile.
	res := open(t, r, withID(v1Stream, "short"))
	n, err := io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	if err != nil || n < 2_000<<10 {
		t.Errorf("the other reader got %d bytes, %v", n, err)
	}
	for range len(requests) + 1 {
		select {
		case e := <-ended:
			took := time.Since(begin)
			if e.id == "short" && e.err != nil {
				t.Errorf("the other stream ended with %v", e.err)
			}
			if e.id != "short" && took < 4*time.Second {
				t.Errorf("%s: dropped after %v already", e.id, took)
			}
			delete(requests, e.id)
		case <-time.After(long):
			t.Fatalf("stalled readers hold their streams: %q", slices.Sorted(maps.Keys(requests)))
		}
	}
	for deadline := time.Now().Add(long); ; time.Sleep(time.Millisecond) {
		body := do(t, "GET", r.url+"/metrics", "").body
		if strings.Contains(body, "molecule_codex_streams_dropped_total 4\n") && strings.Contains(body, "molecule_codex_streams_open 0\n") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the dropped readers are not counted")
		}
	}
}

func withID(body, id string) string { return strings.Replace(body, `"m1"`, `"`+id+`"`, 1) }

// stall asks for a stream and reads nothing of it.
func stall(t *testing.T, r *running, path, body string) {
	t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10)
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

func TestStalledReaderOfAPlainAnswer(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", 64<<20)
	r := serve(t, Config{WriteTimeout: 2 * time.Second, Handler: &fakeHandler{
		get: func(context.Context, *a2a.GetTaskRequest) (*a2a.Task, error) {
			return &a2a.Task{ID: "T1", Metadata: map[string]any{"x": huge}}, nil
		}}})
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET /tasks/T1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
	if _, err := io.ReadFull(c, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(long); ; time.Sleep(10 * time.Millisecond) {
		r.srv.work.mu.Lock()
		n := r.srv.work.open
		r.srv.work.mu.Unlock()
		if n == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the handler still writes")
		}
	}
}

func TestSlowBodyIsGivenUp(t *testing.T) {
	r := serve(t, Config{BodyTimeout: 100 * time.Millisecond})
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
	_ = c.SetReadDeadline(time.Now().Add(long))
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || res.StatusCode != http.StatusBadRequest {
		t.Fatalf("answer %v, %v", res, err)
	}
	_ = res.Body.Close()
}

func TestLeavingCallerEndsItsContext(t *testing.T) {
	ended := make(chan error, 1)
	wait := waiting(ended)
	r := serve(t, Config{Handler: &fakeHandler{stream: wait, subscribe: func(ctx context.Context, _ *a2a.SubscribeToTaskRequest) unplaced {
		return wait(ctx, nil)
	}}})
	for _, call := range [][3]string{{"POST", "/", v1Stream}, {"POST", "/tasks/T1:subscribe", ""}, {"GET", "/tasks/T1:subscribe", "{}"}} {
		res := ask(t, r, call[0], call[1], call[2])
		firstEvent(t, res)
		_ = res.Body.Close()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: ended with %v", call, err)
			}
		case <-time.After(long):
			t.Fatalf("%s: the stream goes on without a reader", call)
		}
	}
}

// waiting yields a task and then nothing until its context ends.
func waiting(ended chan<- error) func(context.Context, *a2a.SendMessageRequest) unplaced {
	return func(ctx context.Context, _ *a2a.SendMessageRequest) unplaced {
		return func(yield func(a2a.Event, error) bool) {
			yield(&a2a.Task{ID: "T1", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}, nil)
			<-ctx.Done()
			yield(nil, ctx.Err())
			ended <- ctx.Err()
		}
	}
}

func firstEvent(t *testing.T, res *http.Response) *bufio.Reader {
	t.Helper()
	br := bufio.NewReader(res.Body)
	for _, want := range []string{"id: ", "data: "} {
		if line, err := br.ReadString('\n'); err != nil || !strings.HasPrefix(line, want) {
			t.Fatalf("got the line %q, %v, want one with %s", line, err, want)
		}
	}
	return br
}

func TestServeSaysWhyItEnds(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	if err := newServer(t, Config{}).Serve(t.Context(), ln); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve = %v", err)
	}
}

// TestHeadersAreBounded: what no caller needs is refused before it costs memory.
func TestHeadersAreBounded(t *testing.T) {
	r := serve(t, Config{})
	for fields, want := range map[string]string{
		"X: " + strings.Repeat("x", 12<<10) + "\r\n": "200", "X: " + strings.Repeat("x", 24<<10) + "\r\n": "431",
		strings.Repeat("X:\r\n", 99): "200", strings.Repeat("X:\r\n", 100): "431", // one is there already
	} {
		got := exchange(t, r.addr, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"+fields+"\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 "+want) {
			t.Errorf("%d bytes of %.6q: %.80s", len(fields), fields, got)
		}
	}
}
