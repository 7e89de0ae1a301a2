package fakeplatform_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func eras(t *testing.T, test func(t *testing.T, era fakeplatform.Era)) {
	for _, era := range fakeplatform.Eras() {
		t.Run(era.String(), func(t *testing.T) { test(t, era) })
	}
}

// ask sends a request with the workspace's token and returns the answer.
func ask(t *testing.T, p *fakeplatform.Platform, token, self, method, path, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if self != "" {
		req.Header.Set("X-Workspace-ID", self)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return res.StatusCode, err.Error()
	}
	return res.StatusCode, strings.TrimSpace(string(text))
}

// want fails the test unless the answer is as said; of the text only a part.
func want(t *testing.T, status int, answer string, wantStatus int, wantPart string) {
	t.Helper()
	if status != wantStatus || !strings.Contains(answer, wantPart) {
		t.Errorf("%d %s, want %d with %s", status, answer, wantStatus, wantPart)
	}
}

// An agent is a workspace of the test's own.
type agent struct {
	url string

	mu    sync.Mutex
	got   []*http.Request
	body  []string
	serve http.HandlerFunc
}

func newAgent(t *testing.T, serve http.HandlerFunc) *agent {
	t.Helper()
	a := &agent{serve: serve}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		a.got, a.body = append(a.got, r), append(a.body, string(text))
		serve := a.serve
		a.mu.Unlock()
		serve(w, r)
	}))
	t.Cleanup(s.Close)
	a.url = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	return a
}

// now serves in another way.
func (a *agent) now(serve http.HandlerFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.serve = serve
}

func (a *agent) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.got)
}

func (a *agent) bodies() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.body)
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"1","result":{"kind":"message","role":"agent","parts":[{"kind":"text","text":"`+text+`"}]}}`)
	}
}

func register(t *testing.T, p *fakeplatform.Platform, w *fakeplatform.Handle, url string) {
	t.Helper()
	status, answer := ask(t, p, w.Token(), "", "POST", "/registry/register",
		`{"id":"`+w.ID()+`","url":"`+url+`","delivery_mode":"push","agent_card":{"name":"a","skills":[]}}`)
	want(t, status, answer, 200, `"status":"registered"`)
}

func beat(t *testing.T, p *fakeplatform.Platform, w *fakeplatform.Handle, more string) {
	t.Helper()
	status, answer := ask(t, p, w.Token(), "", "POST", "/registry/heartbeat", `{"workspace_id":"`+w.ID()+`"`+more+`}`)
	want(t, status, answer, 200, `"status":"ok"`)
}

func await(t *testing.T, p *fakeplatform.Platform, what string, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := p.Await(ctx, done); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

func fields(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}
