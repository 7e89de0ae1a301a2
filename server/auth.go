package server

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// requireToken asks for the bearer token where one is set.
func (s *Server) requireToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.cfg.Token == "" {
			next.ServeHTTP(w, r)
			return
		}
		if !s.holdsToken(r) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="molecule-codex-runtime"`)
			fail(w, r, http.StatusUnauthorized,
				"send the header Authorization: Bearer <token> with the value of RUNTIME_TOKEN that this server was started with")
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), keyAuthenticated, true)))
	})
}

// requireReader keeps a page with details from strangers.
func (s *Server) requireReader(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.mayRead(r):
			next.ServeHTTP(w, r)
		case s.cfg.Token != "":
			s.requireToken(next).ServeHTTP(w, r)
		default:
			fail(w, r, http.StatusForbidden, r.URL.Path+" is shown to callers on this machine only; "+
				"set RUNTIME_TOKEN and send it as a bearer token to read it from elsewhere")
		}
	})
}

// mayRead reports whether details may be shown: to whoever holds the token, or,
// where none is set, to this machine.
func (s *Server) mayRead(r *http.Request) bool {
	if s.cfg.Token != "" {
		return s.holdsToken(r)
	}
	// A proxy on this machine calls from loopback on behalf of anybody.
	if r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != "" {
		return false
	}
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && addr.Addr().Unmap().IsLoopback()
}

// holdsToken compares digests, so that neither content nor length of the token
// shows in the time it takes.
func (s *Server) holdsToken(r *http.Request) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, got := sha256.Sum256([]byte(s.cfg.Token)), sha256.Sum256([]byte(strings.TrimSpace(given)))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// nameCaller tells the handler that the caller has shown the token.
func nameCaller(ctx context.Context) {
	if ok, _ := ctx.Value(keyAuthenticated).(bool); !ok {
		return
	}
	if cc, ok := a2asrv.CallContextFrom(ctx); ok && cc.User.Name == "" {
		cc.User = a2asrv.NewAuthenticatedUser("token", nil)
	}
}
