package server

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// requireToken asks for the bearer token where one is set, and for the platform's
// secret where that is to be asked for. Either will do.
func (s *Server) requireToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		may, token := s.mayCall(r)
		if !may {
			w.Header().Set("WWW-Authenticate", `Bearer realm="molecule-codex-runtime"`)
			fail(w, r, http.StatusUnauthorized, s.asked())
			return
		}
		next.ServeHTTP(w, r.WithContext(asCaller(r.Context(), token)))
	})
}

// asked says what callers have to show.
func (s *Server) asked() string {
	if s.cfg.Token == "" {
		return "unauthorized: send the header Authorization: Bearer <secret> with the workspace's inbound secret (MOLECULE_A2A_REQUIRE_AUTH)"
	}
	return "send the header Authorization: Bearer <token> with the value of RUNTIME_TOKEN that this server was started with"
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

// holdsToken reports whether the caller has shown our own token.
func (s *Server) holdsToken(r *http.Request) bool { return bears(r, s.cfg.Token) }

// nameCaller tells the handler that the caller has shown the token.
func nameCaller(ctx context.Context) {
	if ok, _ := ctx.Value(keyAuthenticated).(bool); !ok {
		return
	}
	if cc, ok := a2asrv.CallContextFrom(ctx); ok && cc.User.Name == "" {
		cc.User = a2asrv.NewAuthenticatedUser("token", nil)
	}
}
