package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
)

const (
	testBodyTimeout = 100 * time.Millisecond
	testSlowness    = 3 * testBodyTimeout
)

// A slow handler takes longer for everything than a body may.
type slow struct{ *fakeHandler }

func (slow) pause(ctx context.Context) error {
	select {
	case <-time.After(testSlowness):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h slow) events(ctx context.Context) guard.Events {
	return placed(func(yield func(a2a.Event, error) bool) {
		if !yield(&a2a.Task{ID: "T1", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}, nil) {
			return
		}
		if err := h.pause(ctx); err != nil {
			yield(nil, err)
			return
		}
		yield(&a2a.TaskStatusUpdateEvent{TaskID: "T1", Status: a2a.TaskStatus{State: a2a.TaskStateCompleted}}, nil)
	})
}

func (h slow) Stream(ctx context.Context, _ *a2a.SendMessageRequest, _ string) guard.Events {
	return h.events(ctx)
}

func (h slow) Resume(ctx context.Context, _ *a2a.SubscribeToTaskRequest, _ string) guard.Events {
	return h.events(ctx)
}

func (h slow) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	return echoTask(req), h.pause(ctx)
}

func (h slow) GetTask(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	return &a2a.Task{ID: req.ID}, h.pause(ctx)
}

func (h slow) ListTasks(ctx context.Context, _ *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	return &a2a.ListTasksResponse{}, h.pause(ctx)
}

func (h slow) CancelTask(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	return &a2a.Task{ID: req.ID}, h.pause(ctx)
}

func (h slow) DeleteTaskPushConfig(ctx context.Context, _ *a2a.DeleteTaskPushConfigRequest) error {
	return h.pause(ctx)
}

// Deadlines end neither what is asked for when it takes long, nor what follows on its
// connection: one that is set on a connection with no body to read cancels both.
func TestNoDeadlineReachesBehindTheBody(t *testing.T) {
	const chunked = "chunked "
	for _, call := range [][3]string{ // a method, a path, a body
		{"POST", "/", v1Hi},
		{"POST", "/", chunked + v1Hi},
		{"POST", "/", v1Stream},
		{"POST", "/", v0Hi},
		{"POST", "/", v0Stream},
		{"POST", "/", `{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"T1"}}`},
		{"POST", "/", `{"jsonrpc":"2.0","id":1,"method":"tasks/resubscribe","params":{"id":"T1"}}`},
		{"POST", "/message:send", restHi},
		{"POST", "/message:stream", restHi},
		{"POST", "/message:stream", chunked + restHi},
		{"POST", "/v1/message:send", v0RESTHi},
		{"POST", "/v1/message:stream", v0RESTHi},
		{"POST", "/tasks/T1:subscribe", ""},
		{"POST", "/tasks/T1:subscribe", "{}"},
		{"POST", "/tasks/T1:subscribe", chunked},
		{"GET", "/tasks/T1:subscribe", ""},
		{"GET", "/tasks/T1:subscribe", "{}"},
		{"POST", "/v1/tasks/T1:subscribe", ""},
		{"POST", "/v1/tasks/T1:subscribe", "{}"},
		{"GET", "/v1/tasks/T1:subscribe", ""},
		{"GET", "/v1/tasks/T1:subscribe", chunked + "{}"},
		{"POST", "/tasks/T1:cancel", ""},
		{"POST", "/tasks/T1:cancel", "{}"},
		{"POST", "/v1/tasks/T1:cancel", ""},
		{"GET", "/tasks", ""},
		{"GET", "/tasks", "{}"},
		{"GET", "/tasks/T1", ""},
		{"DELETE", "/tasks/T1/pushNotificationConfigs/c", ""},
		{"DELETE", "/tasks/T1/pushNotificationConfigs/c", "{}"},
	} {
		method, path := call[0], call[1]
		body, cut := strings.CutPrefix(call[2], chunked)
		t.Run(strings.Join(call[:2], " ")+" "+call[2][:min(len(call[2]), 40)], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := serveInBubble(t, Config{Handler: slow{&fakeHandler{}}, BodyTimeout: testBodyTimeout})
				dials := 0
				tr := r.transport(t)
				dial := tr.DialContext
				tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
					dials++
					return dial(ctx, network, addr)
				}
				over := http.RoundTripper(tr)
				if cut {
					over = unsized{tr}
				}
				a := doOver(t, over, method, r.url+path, body)
				if a.status >= 300 || strings.Contains(a.body, `"error"`) {
					t.Errorf("answer %d %s", a.status, a.body)
				}
				if a := doOver(t, tr, "GET", r.url+"/tasks", ""); a.status != 200 {
					t.Errorf("the next call on the connection: %d %s", a.status, a.body)
				}
				if dials != 1 {
					t.Errorf("%d connections, want one", dials)
				}
			})
		})
	}
}

// unsized sends bodies that do not say their size.
type unsized struct{ http.RoundTripper }

func (u unsized) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(r.Body), -1, []string{"chunked"}
	return u.RoundTripper.RoundTrip(r)
}

// A body that stalls holds no request longer than a body may take, and not at all where
// nothing reads it.
func TestStalledBodyIsGivenUp(t *testing.T) {
	for path, want := range map[string]int{"/": 400, "/tasks/T1:subscribe": 400, "/nothing": 404, "/healthz": 405, "/console/login": 401} {
		t.Run(path, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := Config{BodyTimeout: testBodyTimeout, Token: "t"}
				if want == 400 {
					cfg.Token = ""
				}
				cfg.Console = func(http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
				}
				r := serveInBubble(t, cfg)
				conn, err := r.dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				begin := time.Now()
				go func() {
					_, _ = io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
				}()
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				within := time.Duration(0)
				if want == http.StatusBadRequest {
					within = testBodyTimeout
				}
				if took := time.Since(begin); res.StatusCode != want || took != within || !res.Close {
					t.Errorf("answer %d after %v, want %d after %v, and the end of the connection", res.StatusCode, took, want, within)
				}
			})
		})
	}
}

// An upload without a body, as any other request without one.
func TestUploadWithoutABody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var read error
		s := newServer(t, Config{BodyTimeout: testBodyTimeout})
		s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := bounds.Patient(w, r, testBodyTimeout)
			if _, read = io.ReadAll(body); read == nil {
				time.Sleep(testBodyTimeout / 2)
				_, read = body.Read(make([]byte, 1)) // as readers of forms may
			}
			time.Sleep(testSlowness)
			if r.Context().Err() != nil {
				w.WriteHeader(http.StatusInternalServerError)
			}
		})
		r := runInBubble(t, s)
		tr := r.transport(t)
		for _, body := range []string{"", "form", ""} {
			if a := doOver(t, tr, "POST", r.url, body); a.status != 200 || !errors.Is(read, io.EOF) {
				t.Errorf("with the body %q: %d, %v", body, a.status, read)
			}
		}
	})
}
