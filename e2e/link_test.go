package e2e

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// A front stands before the scripted model, and takes upgrades as it is told.
type front struct {
	*httptest.Server
	mu       sync.Mutex
	upgrades int
	posts    int
}

func newFront(t *testing.T, model *modeltest.Model, upgrade http.HandlerFunc) *front {
	t.Helper()
	to, err := url.Parse(model.URL())
	if err != nil {
		t.Fatal(err)
	}
	f := &front{}
	on := httputil.NewSingleHostReverseProxy(to)
	on.FlushInterval = -1
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		odd := strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
		if odd {
			f.upgrades++
		} else if r.Method == http.MethodPost {
			f.posts++
		}
		f.mu.Unlock()
		if odd && upgrade != nil {
			upgrade(w, r)
			return
		}
		on.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = w.Write([]byte(`{"error":{"message":"no"}}`))
	}
}

func hijack(t *testing.T, say string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = conn.Write([]byte(say))
	}
}

// TestUpgrades has an endpoint do each odd thing with an upgrade: the turn is answered.
func TestUpgrades(t *testing.T) {
	ways := map[string]http.HandlerFunc{
		"taken": nil,
		"400":   status(400), "401": status(401), "403": status(403), "404": status(404), "405": status(405), "426": status(426), "429": status(429),
		"500": status(500), "501": status(501), "502": status(502), "503": status(503),
		"page":     func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>hello</html>")) },
		"redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
		"silence":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"cut":      hijack(t, ""),
		"garbage":  hijack(t, "what?\r\n\r\n"),
		"wrong accept": hijack(t, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: no\r\n\r\n"),
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			model := modeltest.Start(t, fakemodel.Keywords)
			f := newFront(t, model, way)
			p := startOn(t, binary, model, "OPENAI_BASE_URL="+f.URL+"/v1")
			for _, id := range []string{"m1", "m2"} {
				began := time.Now()
				task := p.send(id, "c1", "say hello")
				if at(task, "status", "state") != "TASK_STATE_COMPLETED" {
					t.Errorf("%v", task["status"])
				}
				t.Log(id, time.Since(began), f.upgrades, f.posts)
			}
			for _, line := range strings.Split(p.Log(), "\n") {
				if strings.Contains(line, "over HTTP") || strings.Contains(line, "econnect") || strings.Contains(line, "WARN") {
					t.Log(line)
				}
			}
		})
	}
}
