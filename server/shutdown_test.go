package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

func TestShutdownCutsWhatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const grace = 300 * time.Millisecond
		h := &fakeHandler{stream: waiting(make(chan error, 1)), send: func(ctx context.Context, _ *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		r := serveInBubble(t, Config{Handler: h, ShutdownGrace: grace})
		res := open(t, r, v1Stream)
		br := firstEvent(t, res)
		blocked := make(chan string, 1)
		caller := http.Client{Transport: r.transport(t)}
		go func() { blocked <- answerTo(caller.Post(r.url, "application/json", strings.NewReader(v1Hi))) }()
		synctest.Wait() // until both are with the handler
		begin := time.Now()
		r.stop()
		synctest.Wait()
		refusesNewWork(t, r)

		rest, err := io.ReadAll(br)
		_ = res.Body.Close()
		if err != nil || !strings.Contains(string(rest), "shutting down") {
			t.Errorf("the stream ended with %q, %v", rest, err)
		}
		if got := <-blocked; !strings.Contains(got, "-32000") || !strings.Contains(got, "shutting down") {
			t.Errorf("the blocked call got %s", got)
		}
		r.wait(t)
		if took := time.Since(begin); took < grace || took >= grace+closing { // by then connections are closed by force
			t.Errorf("shutdown took %v", took)
		}
		if _, err := r.dial(t.Context(), "", ""); err == nil {
			t.Error("the listener is still open")
		}
	})
}

// answerTo is the body of an answer, or the error in its place.
func answerTo(res *http.Response, err error) string {
	if err != nil {
		return err.Error()
	}
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	return string(b)
}

// refusesNewWork: the listener of a server that shuts down still answers.
func refusesNewWork(t *testing.T, r *running) {
	t.Helper()
	if a := r.do(t, "GET", "/readyz", ""); a.status != 503 || !strings.Contains(a.body, "shutting down") {
		t.Errorf("readyz stays green: %d %s", a.status, a.body)
	}
	if a := r.do(t, http.MethodPost, "/", v1Hi); a.status != 503 || a.header.Get("Retry-After") == "" || !strings.Contains(a.body, "shutting down") {
		t.Errorf("new work: %d %s", a.status, a.body)
	}
}

func TestShutdownWaitsForWhatEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const work = 50 * time.Second
		h := &fakeHandler{stream: func(context.Context, *a2a.SendMessageRequest) unplaced {
			return func(yield func(a2a.Event, error) bool) {
				yield(&a2a.Task{ID: "T1", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}, nil)
				time.Sleep(work)
				yield(&a2a.TaskStatusUpdateEvent{TaskID: "T1", Status: a2a.TaskStatus{State: a2a.TaskStateFailed}}, nil)
			}
		}}
		r := serveInBubble(t, Config{Handler: h, ShutdownGrace: time.Minute})
		begin := time.Now()
		res := open(t, r, v0Stream)
		br := firstEvent(t, res)
		r.stop()
		rest, err := io.ReadAll(br)
		_ = res.Body.Close()
		if err != nil || !strings.Contains(string(rest), `"state":"failed"`) {
			t.Errorf("the stream ended with %q, %v", rest, err)
		}
		r.wait(t)
		if took := time.Since(begin); took >= work+closing { // it ends when they do
			t.Errorf("shutdown took %v", took)
		}
	})
}

func TestShutdownWithAStalledReader(t *testing.T) {
	t.Parallel()
	ended := make(chan end, 1)
	r := serve(t, Config{Handler: &fakeHandler{stream: flood(ended)}, ShutdownGrace: 100 * time.Millisecond, WriteTimeout: time.Minute})
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(v1Stream), v1Stream)
	if _, err := io.ReadFull(c, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	r.stop()
	r.wait(t)
	<-ended
	if took := time.Since(begin); took > 30*time.Second { // and not when the write gives up
		t.Errorf("shutdown took %v", took)
	}
}

// TestShutdownCutsOffWhoWaitsForAMessage: the call is closed without an answer, also where the grace is over.
func TestShutdownCutsOffWhoWaitsForAMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &fakeHandler{send: func(ctx context.Context, _ *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}}
		r := serveInBubble(t, Config{Handler: h, ShutdownGrace: time.Second, ReplyAsMessage: true, Reply: taskReply})
		blocked := make(chan *http.Response, 1)
		caller := http.Client{Transport: r.transport(t)}
		go func() {
			res, err := caller.Post(r.url, "application/json", strings.NewReader(v0Hi))
			if err != nil {
				res = nil
			}
			blocked <- res
		}()
		synctest.Wait()
		r.stop()
		if res := <-blocked; res != nil {
			t.Errorf("who waits is answered %s", answerTo(res, nil))
		}
		r.wait(t)
	})
}
