package doors

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strconv"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/caller"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
)

// A Config says who is let in. Refusals and Refused must be set.
type Config struct {
	Token string // the bearer token asked of callers; empty asks for none
	// Secret is what the platform shows, and Workspace what readers of its transcript show.
	// "" lets no caller in, nor does nil, which is without a platform.
	Secret, Workspace func() string
	RequireAuth       bool // callers of A2A are asked for the secret, too

	PublicURL      string
	AnyHost        bool     // names that only others know are taken where that tells nothing to a page
	AllowedHosts   []string // host names beside loopback, the address that a request came in at, and PublicURL
	AllowedOrigins []string // origins beside the server's own, as scheme://host[:port]

	Refusals *refusals.Refusals    // has wrong credentials wait
	Refused  func(refusals.Reason) // counts the requests that are refused for their names
}

// asks reports whether callers of A2A are asked for a credential.
func (c *Config) asks() bool { return c.Token != "" || c.RequireAuth }

// Doors decide who is let in.
type Doors struct {
	names
	cfg Config
}

// New returns those of cfg.
func New(cfg Config) (*Doors, error) {
	names, err := newNames(&cfg)
	return &Doors{names: names, cfg: cfg}, err
}

type tokenKey struct{}

// WithToken is the context of a caller that has shown our own token.
func WithToken(ctx context.Context) context.Context { return context.WithValue(ctx, tokenKey{}, true) }

// ShownToken reports whether the caller has shown our own token.
func ShownToken(ctx context.Context) bool {
	shown, _ := ctx.Value(tokenKey{}).(bool)
	return shown
}

// RequireToken asks for the bearer token where one is set, and for the platform's
// secret where that is to be asked for. Either will do.
func (d *Doors) RequireToken(next http.Handler) http.Handler { return d.requireTokenAt("a2a", next) }

func (d *Doors) requireTokenAt(door string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var token bool
		right := func() (may bool) { may, token = d.mayCall(r); return may }
		if d.shows(w, r, door, right, func() {
			w.Header().Set("WWW-Authenticate", `Bearer realm="molecule-codex-runtime"`)
			respond.Fail(w, r, http.StatusUnauthorized, d.asked())
		}) {
			ctx := r.Context()
			if token {
				ctx = WithToken(ctx)
			}
			next.ServeHTTP(w, r.WithContext(ctx))
		}
	})
}

// shows reports whether a request shows a credential that is right. One that does not has
// been answered, by deny if there was room for it to wait in.
func (d *Doors) shows(w http.ResponseWriter, r *http.Request, door string, right func() bool, deny func()) bool {
	guess := guesses(r)
	switch {
	case guess && d.cfg.Refusals.Closed(r.RemoteAddr):
		tooMany(w, r)
	case right():
		crowd.LetIn(r.Context())
		return true
	case !guess:
		d.cfg.Refusals.Missing()
		deny()
	case d.cfg.Refusals.Wrong(r.Context(), r.RemoteAddr, door):
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
	respond.Fail(w, r, http.StatusTooManyRequests, "too many wrong tokens come from where this request does; try again in a few seconds")
}

// asked says what callers have to show.
func (d *Doors) asked() string {
	if d.cfg.Token == "" {
		return "unauthorized: send the header Authorization: Bearer <secret> with the workspace's inbound secret (MOLECULE_A2A_REQUIRE_AUTH)"
	}
	return "send the header Authorization: Bearer <token> with the value of RUNTIME_TOKEN that this server was started with"
}

// RequireReader keeps a page with details from strangers.
func (d *Doors) RequireReader(next http.Handler) http.Handler {
	asked := d.requireTokenAt("metrics", next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case d.cfg.Token != "":
			asked.ServeHTTP(w, r)
		case caller.OfThisMachine(r):
			next.ServeHTTP(w, r)
		default:
			respond.Fail(w, r, http.StatusForbidden, r.URL.Path+" is shown to callers on this machine only; "+
				"set RUNTIME_TOKEN and send it as a bearer token to read it from elsewhere")
		}
	})
}

// MayRead reports whether details may be shown: to a caller that shows the token, or,
// where none is set, to this machine. A wrong token has its caller wait, and be told no
// more than one without.
func (d *Doors) MayRead(r *http.Request) bool {
	switch {
	case d.cfg.Token == "":
		return caller.OfThisMachine(r)
	case !guesses(r) || d.cfg.Refusals.Closed(r.RemoteAddr):
		return false
	case d.holdsToken(r):
		return true
	}
	d.cfg.Refusals.Wrong(r.Context(), r.RemoteAddr, "readyz")
	return false
}

// holdsToken reports whether the caller has shown our own token.
func (d *Doors) holdsToken(r *http.Request) bool { return bears(r, d.cfg.Token) }

// RequirePlatform lets in the platform, which shows its secret.
func (d *Doors) RequirePlatform(next http.Handler) http.Handler {
	return d.requireOf("internal", d.cfg.Secret, next)
}

// RequireWorkspace lets in those who show the token of the workspace.
func (d *Doors) RequireWorkspace(next http.Handler) http.Handler {
	return d.requireOf("transcript", d.cfg.Workspace, next)
}

func (d *Doors) requireOf(door string, secret func() string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		right := func() bool { return secret != nil && bears(r, secret()) }
		if d.shows(w, r, door, right, func() { respond.JSON(w, http.StatusUnauthorized, respond.Problem{Error: "unauthorized"}) }) {
			next.ServeHTTP(w, r)
		}
	})
}

// mayCall reports whether a caller of A2A has shown what is asked of callers, and
// whether that was our own token.
func (d *Doors) mayCall(r *http.Request) (may, token bool) {
	token = d.holdsToken(r)
	return !d.cfg.asks() || token || d.cfg.Secret != nil && bears(r, d.cfg.Secret()), token
}

// bears reports whether the request has the bearer token. Digests are compared, so that
// neither content nor length shows in the time it takes. Nothing is no token.
func bears(r *http.Request, token string) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	want, got := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(strings.TrimSpace(given)))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1 && strings.EqualFold(scheme, "Bearer") && token != ""
}
