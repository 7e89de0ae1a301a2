package console

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// An access is whether a caller is let in.
type access int

const (
	letIn   access = iota
	toLogin        // whoever shows the token may
	shutOut        // no token is set, and this is no caller of this machine
)

// mayEnter says whether a caller is let in; his session is the zero one where none is
// needed.
func (c *Console) mayEnter(r *http.Request) (session, access) {
	if c.cfg.Token == "" {
		if ofThisMachine(r) {
			return session{}, letIn
		}
		return session{}, shutOut
	}
	if s, ok := c.sessions.find(shown(r)); ok {
		return s, letIn
	}
	return session{}, toLogin
}

// ofThisMachine reports whether a request comes from this machine, and to a name of it:
// a page can make its visitor's browser call us under a name of its own.
func ofThisMachine(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && from.Addr().Unmap().IsLoopback() && loopbackName(r.Host) && !proxied(r)
}

// proxied reports whether a request shows that a proxy has made it: one on this machine
// calls from loopback on behalf of anybody, and some hand on whatever Host they were
// given, or put ours there. Not all say for whom they call, and nginx as it comes says
// nothing, but speaks HTTP/1.0, which no browser does.
func proxied(r *http.Request) bool {
	if !r.ProtoAtLeast(1, 1) {
		return true
	}
	for name := range r.Header {
		switch {
		case name == "Forwarded", name == "Via", name == "X-Real-Ip", name == "True-Client-Ip",
			strings.HasPrefix(name, "X-Forwarded-"), strings.HasPrefix(name, "X-Envoy-"), strings.HasPrefix(name, "Cf-"):
			return true
		}
	}
	return false
}

func loopbackName(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
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
		if s.ctx != nil {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			defer context.AfterFunc(s.ctx, cancel)()
			r = r.WithContext(ctx)
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
