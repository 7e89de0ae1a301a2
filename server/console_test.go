package server

import (
	"net/http"
	"strings"
	"testing"
)

// TestConsole: the console stands behind the doors, says itself who is let in, and lets
// those in to the agent as whoever holds the token.
func TestConsole(t *testing.T) {
	h := &fakeHandler{}
	ts := start(t, Config{Handler: h, Token: "s3cret", Console: func(agent http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Let-In") == "" {
				http.Error(w, "not you", http.StatusUnauthorized)
				return
			}
			agent.ServeHTTP(w, r)
		})
	}})
	at := ts.URL + "/console/api/a2a"
	if a := do(t, "POST", at, v0Hi); a.status != 401 || !strings.Contains(a.body, "not you") {
		t.Errorf("a stranger: %d %s", a.status, a.body)
	}
	if a := do(t, "POST", at, v0Hi, "Authorization", "Bearer s3cret"); a.status != 401 {
		t.Errorf("with the agent's token: %d %s", a.status, a.body)
	}
	if len(h.messages) != 0 {
		t.Error("the agent was reached by who was not let in")
	}
	a := do(t, "POST", at, v0Hi, "X-Let-In", "1")
	if a.status != 200 || len(a.rpc(t).Result) == 0 || len(h.calls) != 1 || !h.calls[0].User.Authenticated {
		t.Errorf("who was let in: %d %s, calls %v", a.status, a.body, h.calls)
	}
	for name, header := range map[string][]string{
		"origin": {"Origin", "http://evil.example"}, "null": {"Origin", "null"}, "host": {"Host", "evil.example"},
	} {
		for _, path := range []string{"/console", "/console/api/a2a", "/console/login"} {
			if a := do(t, "POST", ts.URL+path, "", append(header, "X-Let-In", "1")...); a.status != 403 && a.status != 421 {
				t.Errorf("%s, %s: %d %s", name, path, a.status, a.body)
			}
		}
	}
	if a := do(t, "GET", start(t, Config{}).URL+"/console", ""); a.status != 404 {
		t.Errorf("without a console: %d", a.status)
	}
}
