package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestConsoleOfAWorkspace: without a token it is for whoever is on the container's own
// loopback, whatever names its platform calls it by; and it shows how the platform stands.
func TestConsoleOfAWorkspace(t *testing.T) {
	m := join(t, fakeplatform.AUG)
	b := m.browser()
	progtest.WaitFor(t, "the registration to be shown", func() bool {
		s := b.state()
		return at(s, "platform", "registered") == true && at(s, "platform", "lastBeat") != nil && at(s, "ready", "ok") == true
	})
	s := b.state()
	if at(s, "platform", "workspace") != m.handle.ID() || at(s, "platform", "url") != m.platform.URL || at(s, "policy", "sandbox") == "" {
		t.Errorf("the state is %v", s)
	}
	status, report := b.do(http.MethodPost, "/console/api/doctor", "", "", "X-Console", "1")
	if status != http.StatusOK || !strings.Contains(report, `"name":"platform"`) || strings.Contains(report, m.handle.Token()) {
		t.Errorf("doctor: %d %s", status, report)
	}
	for _, header := range [][]string{{"X-Forwarded-For", "192.0.2.1"}, {"Forwarded", "for=192.0.2.1"}} {
		status, page := b.do(http.MethodGet, "/console", "", "", header...)
		if status != http.StatusForbidden || !strings.Contains(page, "RUNTIME_TOKEN") || !strings.Contains(page, "port-forward") {
			t.Errorf("with %s: %d %s", header[0], status, page)
		}
		if status, _ := b.do(http.MethodGet, "/console/api/state", "", "", header...); status != http.StatusForbidden {
			t.Errorf("the state with %s: %d", header[0], status)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.URL+"/console/api/state", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "ws-0123.internal:8000" // the platform's name for it, or a page's
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("under another name: %d", res.StatusCode)
	}
}

// TestConsoleIsClosedToPages: what the pages of others can make a browser send on this
// machine does nothing, with a token and without.
func TestConsoleIsClosedToPages(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"say no"}]}}}`
	for name, settings := range map[string][]string{"open": nil, "token": {"RUNTIME_TOKEN=" + consoleToken}} {
		t.Run(name, func(t *testing.T) {
			p := start(t, settings...)
			b := p.browser()
			if settings != nil {
				b.login(consoleToken)
			}
			for why, header := range map[string][]string{
				"no header":        {},
				"a foreign origin": {"X-Console", "1", "Origin", "https://evil.example"},
				"no origin at all": {"X-Console", "1", "Origin", "null"},
				"another site":     {"X-Console", "1", "Sec-Fetch-Site", "cross-site"},
				"another port":     {"X-Console", "1", "Origin", "http://localhost:1", "Sec-Fetch-Site", "same-site"},
			} {
				for _, media := range []string{"application/json", "text/plain"} {
					if status, answer := b.do(http.MethodPost, "/console/api/a2a", media, call, header...); status != http.StatusForbidden {
						t.Errorf("%s, %s: %d %s", why, media, status, answer)
					}
				}
			}
			if n := len(p.Model.Requests()); n != 0 {
				t.Errorf("the model was asked %d times", n)
			}
			if status, _ := b.do(http.MethodPost, "/console/api/a2a", "application/json", call, "X-Console", "1", "Origin", p.URL); status != http.StatusOK {
				t.Errorf("the page's own: %d", status)
			}
			if status, _ := b.do(http.MethodPost, "/", "application/json", call); settings != nil && status != http.StatusUnauthorized {
				t.Errorf("the session opens A2A itself: %d", status)
			}
		})
	}
}

// TestConsoleTakesSixteen: more than that are turned away, and one that leaves makes room.
func TestConsoleTakesSixteen(t *testing.T) {
	p := start(t)
	b := p.browser()
	var open []*http.Response
	for range 16 {
		res := b.open(http.MethodGet, "/console/api/events", "", "")
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Fatalf("stream %d: %d", len(open), res.StatusCode)
		}
		open = append(open, res)
	}
	if status, answer := b.do(http.MethodGet, "/console/api/events", "", ""); status != http.StatusServiceUnavailable {
		t.Errorf("the 17th: %d %s", status, answer)
	}
	if task := p.send("m1", "one", "say all the same"); text(task) != "all the same" {
		t.Errorf("a turn beside them: %v", task)
	}
	open[0].Body.Close()
	progtest.WaitFor(t, "room for another", func() bool {
		res := b.open(http.MethodGet, "/console/api/events", "", "")
		defer res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
}
