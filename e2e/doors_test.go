package e2e

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// knock makes a request under a host name, with headers in pairs.
func (p *program) knock(method, path, host, body string, header ...string) (status int, answer string, h http.Header) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.URL+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Host = host
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	read, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return res.StatusCode, string(read), res.Header
}

// TestReboundPage: a page that has had its name rebound to a workspace reads no task and
// no detail, by whatever route; the platform goes on under names that only it knows, and
// peers under the one that is registered.
func TestReboundPage(t *testing.T) {
	t.Parallel()
	w := startWorkspace(t, "MOLECULE_WORKSPACE_URL=http://ws-own.internal:8000")
	const rebound, secret = "evil.example:8000", "plum-of-the-conversation"
	if text, _ := w.ask(userMessage("m1", textPart("say "+secret)), nil); !strings.Contains(text, secret) { // under a name of the platform's
		t.Fatalf("the platform is answered %q", text)
	}
	tasks := "/tasks?includeArtifacts=true"
	_, list, _ := w.knock("GET", tasks, "localhost", "")
	if !strings.Contains(list, secret) {
		t.Fatalf("there is nothing to be read: %s", list)
	}
	_, rest, _ := strings.Cut(list, `"id":"`)
	id, _, _ := strings.Cut(rest, `"`)
	for _, path := range []string{tasks, "/tasks/" + id, "/v1/tasks/" + id, "/v1/tasks", "/tasks/" + id + ":subscribe", "/acme" + tasks, "//tasks", "/metrics", "/nothing", "/extendedAgentCard"} {
		status, body, _ := w.knock("GET", path, rebound, "")
		if status != http.StatusMisdirectedRequest || strings.Contains(body, secret) || strings.Contains(body, "go_goroutines") {
			t.Errorf("GET %s: %d %.300s", path, status, body)
		}
	}
	for path, want := range map[string]int{"/readyz": 200, "/healthz": 200, "/.well-known/agent-card.json": 200, "/agent-card": 200, "/console/api/state": 403, "/internal/a2a-auth-status": 401, "/transcript": 401} {
		status, body, _ := w.knock("GET", path, rebound, "")
		if status != want || strings.Contains(body, "checks") || strings.Contains(body, secret) {
			t.Errorf("GET %s: %d %.300s", path, status, body)
		}
		if status, _, _ := w.knock("GET", path, rebound, "", "Sec-Fetch-Mode", "cors"); path != "/healthz" && status != http.StatusMisdirectedRequest {
			t.Errorf("GET %s of a browser: %d", path, status)
		}
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"` + id + `"}}`
	if status, body, _ := w.knock("POST", "/", rebound, call, "Origin", "http://"+rebound); status != http.StatusMisdirectedRequest {
		t.Errorf("a page's POST: %d %s", status, body)
	}
	for _, host := range []string{"localhost:8000", "ws-own.internal:8000", "10.1.2.3:8000"} {
		if status, body, _ := w.knock("GET", tasks, host, ""); status != 200 || !strings.Contains(body, secret) {
			t.Errorf("GET %s as %s: %d %s", tasks, host, status, body)
		}
		for _, site := range []string{"cross-site", "same-site"} {
			if status, body, _ := w.knock("GET", tasks, host, "", "Sec-Fetch-Site", site, "Sec-Fetch-Mode", "no-cors"); status != http.StatusForbidden {
				t.Errorf("a %s page's GET %s as %s: %d %s", site, tasks, host, status, body)
			}
		}
	}
	for _, header := range [][]string{{"X-Real-IP", "192.0.2.1"}, {"Via", "1.1 x"}, {"X-Forwarded-Host", "x"}, {"Cf-Ray", "x"}} {
		if status, _, _ := w.knock("GET", "/metrics", "localhost", "", header...); status != http.StatusForbidden {
			t.Errorf("/metrics with %s: %d", header[0], status)
		}
		if _, body, _ := w.knock("GET", "/readyz", "localhost", "", header...); strings.Contains(body, "checks") {
			t.Errorf("/readyz with %s: %s", header[0], body)
		}
	}
}

// TestGuessingTheToken floods both doors of the running program; the right token waits for
// none of it, and the log has a line.
func TestGuessingTheToken(t *testing.T) {
	t.Parallel()
	p := start(t, "RUNTIME_TOKEN="+consoleToken)
	stop, guessing := make(chan struct{}), make(chan int, 32)
	for i := range 32 {
		go func() {
			refused := 0
			defer func() { guessing <- refused }()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if guess(p.URL, i%2 == 0) {
					refused++
				}
			}
		}()
	}
	progtest.WaitFor(t, "the flood to be turned away", func() bool {
		_, body, _ := p.knock("GET", "/metrics", "localhost", "", "Authorization", "Bearer "+consoleToken)
		return strings.Contains(body, `molecule_codex_http_refused_total{reason="too_many"}`) && !strings.Contains(body, `{reason="too_many"} 0`)
	})
	for range 10 {
		begin := time.Now()
		status, body, _ := p.knock("GET", "/tasks", "localhost", "", "Authorization", "Bearer "+consoleToken)
		if took := time.Since(begin); status != http.StatusOK || took > 2*time.Second { // refused ones wait for 2.4 s
			t.Errorf("the right token: %d %s, after %v", status, body, took)
		}
	}
	if status := p.browser().login(consoleToken); status != http.StatusOK {
		t.Errorf("the right token at the console: %d", status)
	}
	close(stop)
	for range 32 {
		if n := <-guessing; n == 0 {
			t.Error("a guesser was never refused")
		}
	}
	if said := p.Log(); strings.Count(said, "a wrong token or secret was shown") != 1 || strings.Contains(said, "guess-of-the-flood") {
		t.Errorf("the log has %d lines of it", strings.Count(said, "a wrong token or secret was shown"))
	}
}

// guess tries a token, and reports whether it was refused.
func guess(base string, console bool) bool {
	req, err := http.NewRequest(http.MethodGet, base+"/tasks", nil)
	if console {
		form := url.Values{"token": {"guess-of-the-flood"}}.Encode()
		req, err = http.NewRequest(http.MethodPost, base+"/console/login", strings.NewReader(form))
	}
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer guess-of-the-flood")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	res.Body.Close()
	return res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusTooManyRequests
}
