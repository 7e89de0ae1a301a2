package server

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
)

// guessed is a route that asks for a credential, and the one that it asks for.
var guessed = map[string]struct{ route, body, right string }{
	"jsonrpc":    {"POST /", v0Hi, "a-token-of-sixteen"},
	"rest":       {"GET /tasks/T1", "", "a-token-of-sixteen"},
	"rest03":     {"GET /v1/tasks/T1", "", "a-token-of-sixteen"},
	"metrics":    {"GET /metrics", "", "a-token-of-sixteen"},
	"internal":   {"GET /internal/a2a-auth-status", "", "inbound"},
	"transcript": {"GET /transcript", "", "auth-token"},
}

// TestGuessing floods each door with wrong credentials: a few are refused one by one, the
// others turned away at once, and the right one from the same address waits for none.
func TestGuessing(t *testing.T) {
	for name, g := range guessed {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				r := runInBubble(t, guarded16(t, false, &log))
				method, path, _ := strings.Cut(g.route, " ")
				ask := func(credential string) answer {
					return doOver(t, r.transport(t), method, r.url+path, g.body, "Authorization", "Bearer "+credential)
				}
				begin, answers := time.Now(), make(chan answer, 20)
				for range 20 {
					go func() { answers <- ask("a-guess") }()
				}
				synctest.Wait()
				if a := ask(g.right); a.status != http.StatusOK || time.Since(begin) != 0 {
					t.Errorf("the right one: %d %s, after %v", a.status, a.body, time.Since(begin))
				}
				if a := doOver(t, r.transport(t), method, r.url+path, g.body); a.status != http.StatusUnauthorized || time.Since(begin) != 0 {
					t.Errorf("none: %d %s, after %v", a.status, a.body, time.Since(begin))
				}
				got := map[int]int{}
				for range 20 {
					a := <-answers
					got[a.status]++
					if a.status == http.StatusTooManyRequests && (a.header.Get("Retry-After") != "3" || !strings.Contains(a.body, "too many wrong tokens")) {
						t.Errorf("%v %s", a.header, a.body)
					}
				}
				if took := time.Since(begin); got[401] != 8 || got[429] != 12 || took != 8*300*time.Millisecond {
					t.Errorf("%v after %v", got, took)
				}
				metrics := ask2(t, r, "/metrics", "a-token-of-sixteen").body
				for _, want := range []string{`{reason="wrong_credential"} 8`, `{reason="too_many"} 12`, `{reason="no_credential"} 1`} {
					if !strings.Contains(metrics, "molecule_codex_http_refused_total"+want+"\n") {
						t.Errorf("no %s", want)
					}
				}
				if said := log.String(); strings.Count(said, "a wrong token") != 1 || !strings.Contains(said, "network=127.0.0.0/8") || strings.Contains(said, "a-guess") {
					t.Errorf("the log says %s", said)
				}
			})
		})
	}
}

// guarded16 is a server that has a credential for every door, of which ours may be short.
func guarded16(t *testing.T, weak bool, log *bytes.Buffer) *Server {
	cfg := Config{Token: "a-token-of-sixteen", Registry: prometheus.NewRegistry(), Ready: notReady, Platform: &Platform{
		Secret: func() string { return "inbound" }, Token: func() string { return "auth-token" },
	}}
	cfg.Metrics = NewMetrics(cfg.Registry)
	cfg.Refusals = refusals.New(refusals.Config{Weak: weak, Counted: cfg.Metrics.Refused, Logger: slog.New(slog.NewTextHandler(log, nil))})
	return newServer(t, cfg)
}

func ask2(t *testing.T, r *running, path, credential string) answer {
	return doOver(t, r.transport(t), http.MethodGet, r.url+path, "", "Authorization", "Bearer "+credential)
}

// TestGuessingAtReadiness: a probe is no way to guess faster, and is answered in any case.
func TestGuessingAtReadiness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runInBubble(t, guarded16(t, false, &bytes.Buffer{}))
		begin := time.Now()
		for range 3 {
			if a := ask2(t, r, "/readyz", "a-guess"); a.status != http.StatusServiceUnavailable || strings.Contains(a.body, "credential") {
				t.Errorf("a guess: %d %s", a.status, a.body)
			}
		}
		if took := time.Since(begin); took != 900*time.Millisecond {
			t.Errorf("three guesses took %v", took)
		}
		if a := ask2(t, r, "/readyz", "a-token-of-sixteen"); !strings.Contains(a.body, "codex login") {
			t.Errorf("the right one: %d %s", a.status, a.body)
		}
	})
}

// TestGuessingAShortOne: what could be found by trying is not compared beside a flood.
func TestGuessingAShortOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runInBubble(t, guarded16(t, true, &bytes.Buffer{}))
		answers := make(chan answer, 20)
		for range 20 {
			go func() { answers <- ask2(t, r, "/tasks/T1", "a-guess") }()
		}
		synctest.Wait()
		if a := ask2(t, r, "/tasks/T1", "a-token-of-sixteen"); a.status != http.StatusTooManyRequests {
			t.Errorf("the right one was compared: %d %s", a.status, a.body)
		}
		if a := ask2(t, r, "/readyz", "a-token-of-sixteen"); strings.Contains(a.body, "codex login") {
			t.Errorf("the right one was compared at /readyz: %s", a.body)
		}
		for range 20 {
			<-answers
		}
		if a := ask2(t, r, "/tasks/T1", "a-token-of-sixteen"); a.status != http.StatusOK {
			t.Errorf("afterwards: %d %s", a.status, a.body)
		}
	})
}

// TestGuessingEndsWithTheServer: what waits does not keep a server that ends.
func TestGuessingEndsWithTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runInBubble(t, guarded16(t, false, &bytes.Buffer{}))
		begin, answers := time.Now(), make(chan answer, 8)
		for range 8 {
			go func() { answers <- ask2(t, r, "/tasks/T1", "a-guess") }()
		}
		synctest.Wait()
		r.stop()
		r.wait(t)
		for range 8 {
			if a := <-answers; a.status != http.StatusUnauthorized {
				t.Errorf("%d %s", a.status, a.body)
			}
		}
		if took := time.Since(begin); took >= 300*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}
