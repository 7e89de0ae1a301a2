package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/server"
)

// TestProbes: what nobody calls shows its details to this machine alone, as the whole
// server does: not to who comes through a proxy, nor to a page under a foreign name.
func TestProbes(t *testing.T) {
	ready := func(context.Context) server.Readiness {
		return server.Readiness{OK: true, Checks: []server.Check{{Name: "codex", OK: true}}}
	}
	machines := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	probes, err := server.Probes(server.Config{Ready: ready, Machines: machines})
	if err != nil {
		t.Fatal(err)
	}
	forwarded := func(r *http.Request) { r.Header.Set("X-Forwarded-For", "203.0.113.7") }
	foreign := func(r *http.Request) { r.Host = "rebound.example" }
	for _, c := range []struct {
		name, path string
		change     func(*http.Request)
		status     int
		details    bool
	}{
		{"alive", "/healthz", nil, 200, false},
		{"alive_by_any_name", "/healthz", foreign, 200, false},
		{"here", "/readyz", nil, 200, true},
		{"forwarded", "/readyz", forwarded, 200, false},
		{"foreign", "/readyz", foreign, 421, false},
		{"metrics", "/metrics", nil, 200, false},
		{"metrics_forwarded", "/metrics", forwarded, 403, false},
		{"machines", "/machines", nil, 202, false},
		{"machines_forwarded", "/machines", forwarded, 403, false},
		{"machines_foreign", "/machines", foreign, 421, false},
		{"nothing_else", "/.well-known/agent-card.json", nil, 404, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "http://localhost"+c.path, nil)
			r.RemoteAddr = "127.0.0.1:4000"
			if c.change != nil {
				c.change(r)
			}
			w := httptest.NewRecorder()
			probes.ServeHTTP(w, r)
			if details := strings.Contains(w.Body.String(), "checks"); w.Code != c.status || details != c.details {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
}
