package console

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/caller"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
)

// An access is whether a caller is let in.
type access int

const (
	letIn   access = iota
	toLogin        // whoever shows the token may
	shutOut        // no token is set, and this is no caller of this machine
)

// keyHeader carries the page's half of a session.
const keyHeader = "X-Console-Key"

// mayEnter says whether a caller is let in; the session is the zero one where none is
// needed.
func (c *Console) mayEnter(r *http.Request) (session, access) {
	if c.cfg.Token == "" {
		if caller.OfThisMachine(r) {
			return session{}, letIn
		}
		return session{}, shutOut
	}
	if s, ok := c.sessions.find(shown(r), r.Header.Get(keyHeader)); ok {
		return s, letIn
	}
	return session{}, toLogin
}

// within serves those who may enter, and ends with their session.
func (c *Console) within(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get("X-Console") != "1" {
			refuse(w, http.StatusForbidden, "send the header X-Console: 1, as the console's page does")
			return
		}
		s, how := c.mayEnter(r)
		switch how {
		case toLogin:
			refuse(w, http.StatusUnauthorized, "log in at /console; a session lasts 12 hours and ends with the runtime")
			return
		case shutOut:
			refuse(w, http.StatusForbidden, c.shutOutText())
			return
		}
		crowd.LetIn(r.Context())
		if s.ctx != nil {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(s.ctx, cancel)()
			r = r.Clone(ctx)
			r.Header.Del("Cookie") // what comes next has no use for either half
			r.Header.Del(keyHeader)
		}
		next.ServeHTTP(w, r)
	})
}

// shutOutText says to strangers what opens the console.
func (c *Console) shutOutText() string {
	const alone = "The console is shown on this machine only, as localhost. To open it to others, set RUNTIME_TOKEN to a secret, and log in with it."
	if !c.cfg.Workspace {
		return alone
	}
	return alone + " Other callers of this workspace then have to show it, too, or the workspace's inbound secret. " +
		"Without it, forward a port to the container's own loopback, as kubectl port-forward does."
}

// refuse answers a script.
func refuse(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, struct {
		Error string `json:"error"`
	}{text})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"internal error"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
