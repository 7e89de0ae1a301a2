package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// unplaced is a stream as tests write it: its places are counted.
type unplaced = iter.Seq2[a2a.Event, error]

func placed(events unplaced) guard.Events {
	return func(yield func(*feed.Event, error) bool) {
		n := 0
		for e, err := range events {
			n++
			if !yield(&feed.Event{Event: e, ID: fmt.Sprintf("1.%d", n)}, err) {
				return
			}
		}
	}
}

// A fakeHandler answers as its functions say, and like a small echoing agent
// where they are nil. It remembers what it was asked.
type fakeHandler struct {
	send      func(context.Context, *a2a.SendMessageRequest) (a2a.SendMessageResult, error)
	stream    func(context.Context, *a2a.SendMessageRequest) unplaced
	subscribe func(context.Context, *a2a.SubscribeToTaskRequest) unplaced
	shared    func(context.Context) guard.Events // instead of stream
	get       func(context.Context, *a2a.GetTaskRequest) (*a2a.Task, error)
	list      func() []*a2a.Task

	mu       sync.Mutex // guards the fields below
	messages []*a2a.SendMessageRequest
	lists    []*a2a.ListTasksRequest
	calls    []a2asrv.CallContext
}

func (f *fakeHandler) Stream(ctx context.Context, req *a2a.SendMessageRequest, _ string) guard.Events {
	if f.shared != nil {
		return f.shared(ctx)
	}
	return placed(f.SendStreamingMessage(ctx, req))
}

func (f *fakeHandler) Resume(ctx context.Context, req *a2a.SubscribeToTaskRequest, _ string) guard.Events {
	return placed(f.SubscribeToTask(ctx, req))
}

func echoTask(req *a2a.SendMessageRequest) *a2a.Task {
	now := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	return &a2a.Task{
		ID: "T1", ContextID: "C1",
		Status:    a2a.TaskStatus{State: a2a.TaskStateCompleted, Timestamp: &now},
		History:   []*a2a.Message{req.Message},
		Artifacts: []*a2a.Artifact{{ID: "A1", Parts: a2a.ContentParts{a2a.NewTextPart("echo: " + req.Message.Parts[0].Text())}}},
	}
}

func (f *fakeHandler) note(ctx context.Context, req *a2a.SendMessageRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.messages = append(f.messages, req)
	if cc, ok := a2asrv.CallContextFrom(ctx); ok {
		f.calls = append(f.calls, *cc)
	}
}

func (f *fakeHandler) last() *a2a.SendMessageRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.messages) == 0 {
		return nil
	}
	return f.messages[len(f.messages)-1]
}

func (f *fakeHandler) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	f.note(ctx, req)
	if f.send != nil {
		return f.send(ctx, req)
	}
	return echoTask(req), nil
}

func (f *fakeHandler) SendStreamingMessage(ctx context.Context, req *a2a.SendMessageRequest) unplaced {
	f.note(ctx, req)
	if f.stream != nil {
		return f.stream(ctx, req)
	}
	return events(
		&a2a.Task{ID: "T1", ContextID: "C1", Status: a2a.TaskStatus{State: a2a.TaskStateSubmitted}},
		&a2a.TaskArtifactUpdateEvent{TaskID: "T1", ContextID: "C1", Artifact: &a2a.Artifact{ID: "A1", Parts: a2a.ContentParts{a2a.NewTextPart("a<b>")}}},
		&a2a.TaskStatusUpdateEvent{TaskID: "T1", ContextID: "C1", Status: a2a.TaskStatus{State: a2a.TaskStateCompleted}},
	)
}

func events(list ...a2a.Event) unplaced {
	return func(yield func(a2a.Event, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (f *fakeHandler) SubscribeToTask(ctx context.Context, req *a2a.SubscribeToTaskRequest) unplaced {
	if f.subscribe != nil {
		return f.subscribe(ctx, req)
	}
	if req.ID != "T1" {
		return func(yield func(a2a.Event, error) bool) { yield(nil, fmt.Errorf("subscribe: %w", a2a.ErrTaskNotFound)) }
	}
	return events(&a2a.Task{ID: req.ID, Status: a2a.TaskStatus{State: a2a.TaskStateWorking}})
}

func (f *fakeHandler) GetTask(ctx context.Context, req *a2a.GetTaskRequest) (*a2a.Task, error) {
	if f.get != nil {
		return f.get(ctx, req)
	}
	if req.ID != "T1" {
		return nil, fmt.Errorf("get: %w", a2a.ErrTaskNotFound)
	}
	return &a2a.Task{ID: req.ID, ContextID: "C1", Status: a2a.TaskStatus{State: a2a.TaskStateWorking}}, nil
}

func (f *fakeHandler) ListTasks(_ context.Context, req *a2a.ListTasksRequest) (*a2a.ListTasksResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lists = append(f.lists, req)
	if f.list != nil {
		return &a2a.ListTasksResponse{Tasks: f.list(), PageSize: 50}, nil
	}
	return &a2a.ListTasksResponse{PageSize: 50}, nil
}

func (f *fakeHandler) CancelTask(_ context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	return &a2a.Task{ID: req.ID, Status: a2a.TaskStatus{State: a2a.TaskStateCanceled}}, nil
}

func (f *fakeHandler) GetTaskPushConfig(context.Context, *a2a.GetTaskPushConfigRequest) (*a2a.PushConfig, error) {
	return nil, a2a.ErrPushNotificationNotSupported
}

func (f *fakeHandler) ListTaskPushConfigs(context.Context, *a2a.ListTaskPushConfigRequest) (*a2a.ListTaskPushConfigResponse, error) {
	return &a2a.ListTaskPushConfigResponse{}, nil
}

func (f *fakeHandler) CreateTaskPushConfig(_ context.Context, c *a2a.PushConfig) (*a2a.PushConfig, error) {
	return c, nil
}

func (f *fakeHandler) DeleteTaskPushConfig(context.Context, *a2a.DeleteTaskPushConfigRequest) error {
	return nil
}

func (f *fakeHandler) GetExtendedAgentCard(context.Context, *a2a.GetExtendedAgentCardRequest) (*a2a.AgentCard, error) {
	return testCard("http://extended"), nil
}

func testCard(base string) *a2a.AgentCard {
	return &a2a.AgentCard{
		Name: "codex", Description: "d", Version: "1",
		DefaultInputModes: []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Capabilities: a2a.AgentCapabilities{Streaming: true, PushNotifications: true, ExtendedAgentCard: true},
		Skills:       []a2a.AgentSkill{{ID: "s", Name: "s", Description: "s", Tags: []string{"t"}}},
		SupportedInterfaces: []*a2a.AgentInterface{
			{URL: base, ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: a2a.Version},
			{URL: base, ProtocolBinding: a2a.TransportProtocolHTTPJSON, ProtocolVersion: a2a.Version},
			{URL: base, ProtocolBinding: a2a.TransportProtocolJSONRPC, ProtocolVersion: "0.3"},
		},
	}
}

// newServer makes a server of cfg with what a test does not care about.
func newServer(t testing.TB, cfg Config) *Server {
	t.Helper()
	if cfg.Handler == nil {
		cfg.Handler = &fakeHandler{}
	}
	if cfg.Card == nil {
		cfg.Card = testCard
	}
	if cfg.ExtendedCard == nil {
		cfg.ExtendedCard = testCard
	}
	if cfg.Refusals == nil { // what is wrong here is no guess
		cfg.Refusals = refusals.New(refusals.Config{Pause: time.Microsecond})
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start serves cfg on loopback over httptest.
func start(t testing.TB, cfg Config) *httptest.Server {
	t.Helper()
	ts := httptest.NewServer(newServer(t, cfg).Handler())
	t.Cleanup(func() {
		ts.CloseClientConnections()
		ts.Close()
	})
	return ts
}

// serveHandler serves a handler on loopback and returns its URL.
func serveHandler(t testing.TB, h http.Handler) string {
	ts := httptest.NewServer(h)
	t.Cleanup(ts.Close)
	return ts.URL
}

// exchange sends request as it is and returns all that comes back.
func exchange(t testing.TB, addr, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// An answer is a response that has been read.
type answer struct {
	status int
	header http.Header
	body   string
}

func do(t testing.TB, method, url, body string, header ...string) answer {
	t.Helper()
	return doOver(t, http.DefaultTransport, method, url, body, header...)
}

func doOver(t testing.TB, tr http.RoundTripper, method, url, body string, header ...string) answer {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
			continue
		}
		req.Header.Set(header[i], header[i+1])
		if header[i+1] == "" {
			req.Header.Del(header[i])
		}
	}
	res, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if word := leak(string(b)); word != "" {
		t.Errorf("%s %s: the answer to %.200q speaks of %q: %.500s", method, url, body, word, b)
	}
	return answer{res.StatusCode, res.Header, string(b)}
}

// insides are words that only our own insides have.
var insides = regexp.MustCompile(`goroutine|\.go:|json: |interface \{|map\[string|a2a-go|a2a\.|github\.com|Go (value|struct)|runtime error|` +
	`invalid character|unmarshal|strconv|proto:|protojson|http: |unexpected EOF|base64 data|nil pointer`)

// leak returns what an answer has of our insides: no answer may, whatever was
// sent. Of megabytes that a test has made up itself the ends are looked at.
func leak(answer string) string {
	const end = 16 << 10
	if len(answer) > 2*end {
		answer = answer[:end] + answer[len(answer)-end:]
	}
	return insides.FindString(answer)
}

// rpcAnswer is what a test looks at in a JSON-RPC response.
type rpcAnswer struct {
	ID     json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

func (a answer) rpc(t testing.TB) rpcAnswer {
	t.Helper()
	var out rpcAnswer
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatalf("body %q: %v", a.body, err)
	}
	return out
}

// sseData returns the data fields of a stream.
func (a answer) sseData() []string {
	var out []string
	sc := bufio.NewScanner(strings.NewReader(a.body))
	for sc.Scan() {
		if d, ok := strings.CutPrefix(sc.Text(), "data: "); ok {
			out = append(out, d)
		}
	}
	return out
}

// An unavailable handler takes no messages.
type unavailable struct{ *fakeHandler }

func (unavailable) SendMessage(context.Context, *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	return nil, errBusy()
}

func (unavailable) Stream(context.Context, *a2a.SendMessageRequest, string) guard.Events {
	return guard.Failed(errBusy())
}

func errBusy() error {
	return a2a.NewError(a2a.ErrServerError, "too many messages wait; send this one again later")
}
