package server

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

var (
	v0Stream = strings.Replace(v0Hi, "message/send", "message/stream", 1)
	v1Stream = strings.Replace(v1Hi, "SendMessage", "SendStreamingMessage", 1)
)

const (
	restHi   = `{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
	v0RESTHi = `{"message":{"messageId":"m1","role":"ROLE_USER","content":[{"text":"hi"}]}}`
)

func TestStreams(t *testing.T) {
	ts := start(t, Config{})
	tests := []struct {
		name, path, body, first string
		last                    string
	}{
		{"v0", "/", v0Stream, `{"jsonrpc":"2.0","id":1,"result":{"kind":"task"`, `"final":true`},
		{"v1", "/", v1Stream, `{"jsonrpc":"2.0","id":1,"result":{"task":{`, `TASK_STATE_COMPLETED`},
		{"rest", "/message:stream", restHi, `{"task":{`, `TASK_STATE_COMPLETED`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := do(t, "POST", ts.URL+tt.path, tt.body)
			data := a.sseData()
			if a.status != 200 || !strings.HasPrefix(a.body, "id: 1.1\ndata: ") || len(data) != 3 || !strings.HasPrefix(data[0], tt.first) || !strings.Contains(data[2], tt.last) {
				t.Errorf("data %q", data)
			}
			for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no"} {
				if got := a.header.Get(name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestErrorWithinAStream(t *testing.T) {
	h := &fakeHandler{stream: func(context.Context, *a2a.SendMessageRequest) unplaced {
		return func(yield func(a2a.Event, error) bool) {
			if yield(&a2a.Task{ID: "T1", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}, nil) {
				yield(nil, fmt.Errorf("read /secret"))
			}
		}
	}}
	ts := start(t, Config{Handler: h})
	for _, c := range [][2]string{{"/", v0Stream}, {"/", v1Stream}, {"/message:stream", restHi}} {
		data := do(t, "POST", ts.URL+c[0], c[1]).sseData()
		if len(data) != 2 || !strings.Contains(data[1], `"error":{"code":`) || strings.Contains(data[1], "secret") {
			t.Errorf("%s: %q", c[1], data)
		}
	}
}

func TestKeepAlive(t *testing.T) {
	h := &fakeHandler{stream: func(context.Context, *a2a.SendMessageRequest) unplaced {
		return func(yield func(a2a.Event, error) bool) {
			time.Sleep(110 * time.Millisecond) // longer than a write may take
			yield(&a2a.Task{ID: "T1", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}, nil)
		}
	}}
	for _, body := range []string{v0Stream, v1Stream} {
		synctest.Test(t, func(t *testing.T) {
			r := serveInBubble(t, Config{Handler: h, KeepAlive: 20 * time.Millisecond, WriteTimeout: 50 * time.Millisecond})
			a := r.do(t, "POST", "/", body)
			if n := strings.Count(a.body, ": keep-alive\n\n"); n != 5 || len(a.sseData()) != 1 {
				t.Errorf("%d comments in %q", n, a.body)
			}
		})
	}
}

func TestSilentStreamOutlivesTheWriteTimeout(t *testing.T) {
	h := &fakeHandler{stream: func(context.Context, *a2a.SendMessageRequest) unplaced {
		return func(yield func(a2a.Event, error) bool) {
			for range 3 {
				if !yield(&a2a.Task{ID: "T1", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}, nil) {
					return
				}
				time.Sleep(60 * time.Millisecond) // longer than a write may take
			}
		}
	}}
	for path, body := range map[string]string{"/": v1Stream, "/message:stream": restHi, "/v1/message:stream": v0RESTHi} {
		synctest.Test(t, func(t *testing.T) {
			r := serveInBubble(t, Config{Handler: h, WriteTimeout: 30 * time.Millisecond})
			if data := r.do(t, "POST", path, body).sseData(); len(data) != 3 {
				t.Errorf("%s: got %d events, want 3", path, len(data))
			}
		})
	}
}
