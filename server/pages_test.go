package server

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
)

func notReady(context.Context) Readiness {
	return Readiness{Checks: []Check{{Name: "credential", Message: "no credential; run codex login"}}}
}

func TestCard(t *testing.T) {
	ts := start(t, Config{})
	for _, path := range []string{"/", "/.well-known/agent-card.json", "/.well-known/agent.json", "/agent-card"} {
		a := do(t, "GET", ts.URL+path, "")
		var card map[string]any
		if err := json.Unmarshal([]byte(a.body), &card); err != nil || a.status != 200 || a.header.Get("Content-Type") != "application/json" {
			t.Fatalf("%s: %d %v %s", path, a.status, err, a.body)
		}
		if card["url"] != ts.URL || card["protocolVersion"] != "0.3" || card["supportedInterfaces"] == nil {
			t.Errorf("%s is not the union card: %s", path, a.body)
		}
		etag := a.header.Get("ETag")
		if etag == "" || !strings.Contains(a.header.Get("Cache-Control"), "max-age") || !strings.HasSuffix(a.header.Get("Last-Modified"), " GMT") {
			t.Errorf("%s: header %v", path, a.header)
		}
		if a := do(t, "GET", ts.URL+path, "", "If-None-Match", etag); a.status != 304 || a.body != "" {
			t.Errorf("%s again: %d %q", path, a.status, a.body)
		}
		if a := do(t, "HEAD", ts.URL+path, ""); a.status != 200 || a.body != "" || a.header.Get("ETag") != etag {
			t.Errorf("HEAD %s: %d %q", path, a.status, a.body)
		}
	}
}

func TestCardURL(t *testing.T) {
	url := func(cfg Config, header ...string) string {
		a := do(t, "GET", start(t, cfg).URL+"/agent-card", "", header...)
		var card a2a.AgentCard
		if err := json.Unmarshal([]byte(a.body), &card); err != nil {
			t.Fatal(err)
		}
		return card.SupportedInterfaces[0].URL
	}
	if got := url(Config{}, "Host", "localhost:77", "X-Forwarded-Host", "evil.example", "X-Forwarded-Proto", "https"); got != "http://localhost:77" {
		t.Errorf("from the host: %s", got)
	}
	if got := url(Config{PublicURL: "https://agent.example/"}); got != "https://agent.example" {
		t.Errorf("public: %s", got)
	}
}

// TestPureCard knows the members of the card of 1.0 from the SDK's type.
func TestPureCard(t *testing.T) {
	card := func(base string) *a2a.AgentCard { return adapter.Card(adapter.Identity{Version: "1.2.3"}, base) }
	a := do(t, "GET", start(t, Config{PureCard: true, Card: card}).URL+"/agent-card", "")
	dec := json.NewDecoder(strings.NewReader(a.body))
	dec.DisallowUnknownFields()
	var got a2a.AgentCard
	if err := dec.Decode(&got); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	if got.Name == "" || got.Description == "" || got.Version == "" || len(got.SupportedInterfaces) == 0 || len(got.Skills) == 0 ||
		len(got.DefaultInputModes) == 0 || len(got.DefaultOutputModes) == 0 {
		t.Error(a.body)
	}
}

func TestHealthAndReadiness(t *testing.T) {
	if a := do(t, "GET", start(t, Config{Ready: notReady}).URL+"/healthz", ""); a.status != 200 || a.body != "ok\n" {
		t.Errorf("healthz: %d %q", a.status, a.body)
	}
	if a := do(t, "GET", start(t, Config{Ready: notReady}).URL+"/readyz", ""); a.status != 503 || !strings.Contains(a.body, "codex login") {
		t.Errorf("not ready: %d %s", a.status, a.body)
	}
	var log bytes.Buffer
	states := []Readiness{{OK: true}, {Checks: []Check{{Name: "a"}}}, {Checks: []Check{{Name: "a"}, {Name: "b", OK: true}}}, {Checks: []Check{{Name: "b"}}}, {OK: true}, {OK: true}}
	l, logger := readyLog{}, slog.New(slog.NewTextHandler(&log, nil))
	for _, state := range states {
		l.say(logger, state)
	}
	if out := log.String(); strings.Count(out, "\n") != 3 || !strings.Contains(out, "checks=a") || !strings.Contains(out, "checks=b") || !strings.Contains(out, "answers 200 again") {
		t.Errorf("changes of readiness are logged as %s", out)
	}
	if a := do(t, "GET", start(t, Config{}).URL+"/readyz", ""); a.status != 200 || a.body != `{"ok":true}`+"\n" {
		t.Errorf("ready: %d %s", a.status, a.body)
	}
}

func TestMetrics(t *testing.T) {
	cfg := Config{}
	s := newServer(t, cfg)
	m := s.metrics
	m.TurnStarted(time.Second)
	m.TurnStarted(time.Second)
	m.FirstText(time.Second)
	m.TurnEnded("completed", time.Second)
	m.Tokens(10, 5, 3, 0)
	m.ChildStarted()
	m.ChildRestarted("died")
	m.QueueDepth(4)
	reg := s.cfg.Registry
	ts := start(t, Config{Registry: reg, Metrics: m})
	do(t, "GET", ts.URL+"/tasks/T1", "")
	do(t, "GET", ts.URL+"/tasks/T2", "")
	do(t, "BREW", ts.URL+"/some/where", "")
	body := do(t, "GET", ts.URL+"/metrics", "").body
	for _, want := range []string{
		`molecule_codex_turns_active 1`, `molecule_codex_turn_duration_seconds_count{outcome="completed"} 1`,
		`molecule_codex_turn_wait_seconds_count 2`, `molecule_codex_turn_first_text_seconds_count 1`,
		`molecule_codex_tokens_total{kind="cached_input"} 5`, `molecule_codex_child_starts_total 1`,
		`molecule_codex_child_restarts_total{reason="died"} 1`, `molecule_codex_queue_depth 4`,
		`molecule_codex_http_request_duration_seconds_count{code="200",method="GET",route="/tasks/{task}"} 1`,
		`molecule_codex_http_request_duration_seconds_count{code="404",method="GET",route="/tasks/{task}"} 1`,
		`method="other",route="unmatched"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
	if strings.Contains(body, `kind="reasoning"`) || strings.Contains(body, "BREW") {
		t.Error("a label that should not be there")
	}
}

func TestRequestLogAndIDs(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil)) // info
	h := &fakeHandler{send: func(context.Context, *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
		return nil, context.DeadlineExceeded
	}}
	ts := start(t, Config{Handler: h, Logger: logger, Ready: notReady})
	a := do(t, "POST", ts.URL, v0Hi, "X-Request-Id", "req-7")
	if a.header.Get("X-Request-Id") != "req-7" || !strings.Contains(a.body, "req-7") {
		t.Errorf("id not used: %v %s", a.header, a.body)
	}
	for _, bad := range []string{"a b", strings.Repeat("x", 65), "a\"b"} {
		if got := do(t, "GET", ts.URL+"/healthz", "", "X-Request-Id", bad).header.Get("X-Request-Id"); got == bad || len(got) != 36 {
			t.Errorf("id %q became %q", bad, got)
		}
	}
	for range 3 { // anybody may ask, as often as they like
		do(t, "GET", ts.URL+"/readyz", "")
	}
	ts.Close() // waits for the handlers, so for the log
	out := log.String()
	for _, want := range []string{"request_id=req-7", "deadline exceeded", "no turn would run"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	if n := strings.Count(out, "readyz"); n != 1 {
		t.Errorf("%d lines of /readyz in %s", n, out)
	}
	if strings.Contains(out, "status=200") || strings.Contains(out, `hi`+`"`) {
		t.Errorf("too much in %s", out)
	}
}
