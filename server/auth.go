package server

import (
	"context"
	"net/http"
	"strconv"

	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/caller"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
)

// requireToken asks for the bearer token where one is set, and for the platform's
// secret where that is to be asked for. Either will do.
func (s *Server) requireToken(next http.Handler) http.Handler { return s.requireTokenAt("a2a", next) }

func (s *Server) requireTokenAt(door string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var token bool
		right := func() (may bool) { may, token = s.mayCall(r); return may }
		if s.shows(w, r, door, right, func() {
			w.Header().Set("WWW-Authenticate", `Bearer realm="molecule-codex-runtime"`)
			fail(w, r, http.StatusUnauthorized, s.asked())
		}) {
			next.ServeHTTP(w, r.WithContext(asCaller(r.Context(), token)))
		}
	})
}

// shows reports whether a request shows a credential that is right. One that does not has
// been answered, by deny if there was room for it to wait in.
func (s *Server) shows(w http.ResponseWriter, r *http.Request, door string, right func() bool, deny func()) bool {
	guess := guesses(r)
	switch {
	case guess && s.cfg.Refusals.Closed(r.RemoteAddr):
		tooMany(w, r)
	case right():
		crowd.LetIn(r.Context())
		return true
	case !guess:
		s.cfg.Refusals.Missing()
		deny()
	case s.cfg.Refusals.Wrong(r.Context(), r.RemoteAddr, door):
		deny()
	default:
		tooMany(w, r)
	}
	return false
}

// guesses reports whether a request shows a credential, right or wrong.
func guesses(r *http.Request) bool { return r.Header.Get("Authorization") != "" }

// tooMany turns a caller away. The connection goes with it: what comes next on it would
// be one more.
func tooMany(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Connection", "close")
	w.Header().Set("Retry-After", strconv.Itoa(refusals.RetryAfter))
	fail(w, r, http.StatusTooManyRequests, "too many wrong tokens come from where this request does; try again in a few seconds")
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
	asked := s.requireTokenAt("metrics", next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.cfg.Token != "":
			asked.ServeHTTP(w, r)
		case caller.OfThisMachine(r):
			next.ServeHTTP(w, r)
		default:
			fail(w, r, http.StatusForbidden, r.URL.Path+" is shown to callers on this machine only; "+
				"set RUNTIME_TOKEN and send it as a bearer token to read it from elsewhere")
		}
	})
}

// mayRead reports whether details may be shown: to whoever holds the token, or,
// where none is set, to this machine. A wrong token has its caller wait, and be told no
// more than one without.
func (s *Server) mayRead(r *http.Request) bool {
	switch {
	case s.cfg.Token == "":
		return caller.OfThisMachine(r)
	case !guesses(r) || s.cfg.Refusals.Closed(r.RemoteAddr):
		return false
	case s.holdsToken(r):
		return true
	}
	s.cfg.Refusals.Wrong(r.Context(), r.RemoteAddr, "readyz")
	return false
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
