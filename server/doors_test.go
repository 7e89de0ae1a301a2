package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"
)

func TestHostAllowList(t *testing.T) {
	strict := Config{PublicURL: "https://agent.example:8443/", AllowedHosts: []string{"My-Box:8000"}}
	tests := []struct {
		name   string
		cfg    Config
		host   string
		origin string
		status int
	}{
		{"localhost", Config{}, "localhost:9", "", 200},
		{"upperCase", Config{}, "LOCALHOST", "", 200},
		{"rootDot", Config{}, "localhost.:9", "", 200},
		{"subLocalhost", Config{}, "a.localhost", "", 200},
		{"loopback", Config{}, "127.0.0.9:1", "", 200},
		{"loopback6", Config{}, "[::1]:1", "", 200},
		{"mapped", Config{}, "[::ffff:127.0.0.1]:1", "", 421},
		{"unspecified", Config{}, "0.0.0.0:8000", "", 421},
		{"unspecified6", Config{}, "[::]:8000", "", 421},
		{"unspecifiedMapped", Config{}, "[::ffff:0:0]:8000", "", 421},
		{"unspecifiedAnyHost", Config{AnyHost: true}, "0.0.0.0:8000", "", 200},
		{"unspecifiedFromAPage", Config{AnyHost: true}, "0.0.0.0:8000", "http://0.0.0.0:8000", 421},
		{"unspecifiedPublic", Config{PublicURL: "http://0.0.0.0:8000"}, "0.0.0.0:8000", "", 200},
		{"foreign", Config{}, "evil.example", "", 421},
		{"looksLocal", Config{}, "localhost.evil.example", "", 421},
		{"otherAddress", Config{}, "10.1.2.3:8000", "", 421},
		{"public", strict, "agent.example", "", 200},
		{"configured", strict, "my-box:8000", "", 200},
		{"notPublic", strict, "agent.example.org", "", 421},
		{"anyHost", Config{AnyHost: true}, "ws-abc:8000", "", 200},
		{"anyHostFromAPage", Config{AnyHost: true}, "evil.example", "http://evil.example", 421},
		{"sameOrigin", Config{}, "localhost:9", "http://localhost:9", 200},
		{"foreignOrigin", Config{}, "localhost:9", "http://evil.example", 403},
		{"otherPort", Config{}, "localhost:9", "http://localhost:10", 403},
		{"nullOrigin", Config{}, "localhost:9", "null", 403},
		{"odd", Config{}, "localhost:9", "file://localhost:9", 403},
		{"publicOrigin", strict, "localhost:9", "https://AGENT.example:8443", 200},
		{"allowedOrigin", Config{AllowedOrigins: []string{"http://ui.example/"}}, "localhost", "http://ui.example", 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ts := start(t, tt.cfg)
			header := []string{"Host", tt.host}
			if tt.origin != "" {
				header = append(header, "Origin", tt.origin)
			}
			for method, path := range map[string]string{"POST": "/", http.MethodGet: "/agent-card"} {
				body := ""
				if method == "POST" {
					body = v0Hi
				}
				a := do(t, method, ts.URL+path, body, header...)
				if a.status != tt.status || a.status != 200 && !strings.Contains(a.body, `"error":`) {
					t.Errorf("%s %s: %d %s, want %d", method, path, a.status, a.body, tt.status)
				}
			}
			if a := do(t, http.MethodGet, ts.URL+"/healthz", "", header...); a.status != 200 {
				t.Errorf("healthz: %d", a.status)
			}
		})
	}
}

func TestPublicURLMustBeOne(t *testing.T) {
	for _, u := range []string{"agent.example", "ftp://x", "http://", ":"} {
		if _, err := New(Config{Handler: &fakeHandler{}, Card: testCard, PublicURL: u}); err == nil {
			t.Errorf("%q was taken", u)
		}
	}
}

func TestToken(t *testing.T) {
	h := &fakeHandler{}
	ts := start(t, Config{Handler: h, Token: "s3cret"})
	open := []string{"GET /", "GET /healthz", "GET /readyz", "GET /agent-card", "GET /.well-known/agent.json", "GET /.well-known/agent-card.json", "HEAD /agent-card"}
	shut := []string{"POST /", "POST /a2a", "GET /tasks", "GET /tasks/T1", "POST /message:send", "POST /message:stream", "GET /tasks/T1:subscribe", "GET /v1/tasks/T1", "GET /metrics", "GET /extendedAgentCard"}
	body := func(method string) string {
		if method == "POST" {
			return v0Hi
		}
		return ""
	}
	for _, route := range open {
		method, path, _ := strings.Cut(route, " ")
		if a := do(t, method, ts.URL+path, ""); a.status != 200 {
			t.Errorf("%s: %d %s", route, a.status, a.body)
		}
	}
	for _, route := range shut {
		method, path, _ := strings.Cut(route, " ")
		for _, auth := range []string{"", "Bearer", "Bearer wrong", "Bearer s3cretx", "Basic s3cret", "s3cret"} {
			a := do(t, method, ts.URL+path, body(method), "Authorization", auth)
			if a.status != 401 || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") || !strings.Contains(a.body, "RUNTIME_TOKEN") {
				t.Errorf("%s with %q: %d %s", route, auth, a.status, a.body)
			}
		}
		if a := do(t, method, ts.URL+path, body(method), "Authorization", "bearer s3cret"); a.status == 401 {
			t.Errorf("%s with the token: %d %s", route, a.status, a.body)
		}
	}
	if len(h.messages) == 0 {
		t.Fatal("no call came through")
	}
	for _, cc := range h.calls {
		if _, ok := cc.ServiceParams().Get("authorization"); ok || !cc.User.Authenticated {
			t.Errorf("the handler sees %+v", cc)
		}
	}
}

// TestDetailsAreForWhoeverMay: whatever shows that a proxy calls, or a page under a name of
// its own, has no details; nor has anything else without the token where there is one.
func TestDetailsAreForWhoeverMay(t *testing.T) {
	plain := func(*http.Request) {}
	header := func(name string) func(*http.Request) { return func(r *http.Request) { r.Header.Set(name, "x") } }
	tests := []struct {
		name, token, remote, auth string
		change                    func(*http.Request)
		detail                    bool
		metrics                   int
	}{
		{"loopback", "", "127.0.0.1:5", "", plain, true, 200},
		{"loopback6", "", "[::1]:5", "", plain, true, 200},
		{"from-a-log", "", "127.0.0.1:5", "", func(r *http.Request) { r.Host = "0.0.0.0:8000" }, false, 403},
		{"elsewhere", "", "10.0.0.1:5", "", plain, false, 403},
		{"own-address", "", "127.0.0.1:5", "", func(r *http.Request) { r.Host = "10.0.0.2:8000" }, false, 403},
		{"X-Forwarded-For", "", "127.0.0.1:5", "", header("X-Forwarded-For"), false, 403},
		{"Forwarded", "", "127.0.0.1:5", "", header("Forwarded"), false, 403},
		{"X-Real-IP", "", "127.0.0.1:5", "", header("X-Real-IP"), false, 403},
		{"Via", "", "127.0.0.1:5", "", header("Via"), false, 403},
		{"X-Forwarded-Host", "", "127.0.0.1:5", "", header("X-Forwarded-Host"), false, 403},
		{"Cf-Ray", "", "127.0.0.1:5", "", header("Cf-Ray"), false, 403},
		{"HTTP10", "", "127.0.0.1:5", "", func(r *http.Request) { r.Proto, r.ProtoMinor = "HTTP/1.0", 0 }, false, 403},
		{"token", "t", "10.0.0.1:5", "Bearer t", plain, true, 200},
		{"token-proxied", "t", "127.0.0.1:5", "Bearer t", header("Via"), true, 200},
		{"noToken", "t", "127.0.0.1:5", "", plain, false, 401},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := Config{Token: tt.token, Ready: notReady, AnyHost: true}
			probes, err := Probes(cfg) // of a channel
			if err != nil {
				t.Fatal(err)
			}
			for kind, h := range map[string]http.Handler{"server": newServer(t, cfg).Handler(), "probes": probes} {
				get := func(path string) *httptest.ResponseRecorder {
					r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
					r.RemoteAddr = tt.remote
					r.Header.Set("Authorization", tt.auth)
					tt.change(r)
					w := httptest.NewRecorder()
					h.ServeHTTP(w, r)
					return w
				}
				w := get("/readyz")
				if w.Code != 503 || strings.Contains(w.Body.String(), "no credential") != tt.detail {
					t.Errorf("%s, readyz: %d %s", kind, w.Code, w.Body)
				}
				if w := get("/metrics"); w.Code != tt.metrics {
					t.Errorf("%s, metrics: %d %s", kind, w.Code, w.Body)
				}
			}
		})
	}
}

func TestUnknownRoutesAndMethods(t *testing.T) {
	ts := start(t, Config{})
	a := do(t, http.MethodGet, ts.URL+"/nope", "")
	if a.status != 404 || !strings.Contains(a.body, "/.well-known/agent-card.json") || !strings.Contains(a.body, "POST /a2a") {
		t.Errorf("404: %d %s", a.status, a.body)
	}
	for route, allow := range map[string]string{
		"PUT /": "GET, HEAD, POST", "GET /a2a": "POST", "DELETE /healthz": "GET, HEAD", "POST /tasks": http.MethodGet,
		"POST /tasks/T1": http.MethodGet, "PATCH /agent-card": "GET, HEAD", "GET /message:send": "POST", "OPTIONS /a2a": "POST",
		"GET /tasks/T1/pushNotificationConfigs/1": "", "PUT /tasks/T1/pushNotificationConfigs/1": "DELETE, GET",
	} {
		method, path, _ := strings.Cut(route, " ")
		a := do(t, method, ts.URL+path, "")
		if allow == "" {
			continue
		}
		if a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != allow || !strings.Contains(a.body, `"error"`) {
			t.Errorf("%s: %d, Allow %q, %s", route, a.status, a.header.Get("Allow"), a.body)
		}
	}
}

func TestExtensionsAreSplit(t *testing.T) {
	for _, name := range []string{"A2A-Extensions", "X-A2A-Extensions"} {
		for _, body := range []string{v0Hi, v1Hi} {
			h := &fakeHandler{}
			ts := start(t, Config{Handler: h})
			do(t, "POST", ts.URL, body, name, "urn:a, urn:b,,")
			got, _ := h.calls[0].ServiceParams().Get(a2a.SvcParamExtensions)
			if diff := cmp.Diff([]string{"urn:a", "urn:b"}, got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}
