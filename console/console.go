package console

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/caller"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
)

// Tasks are those of every caller.
type Tasks interface {
	// Newest returns the n tasks whose state has changed last, the latest first.
	Newest(ctx context.Context, n int) ([]Task, error)
	// Watch notes from now on which tasks change their state.
	Watch() Watch
}

// A Watch is what one reader has not been told yet. It keeps the newest state of a
// task, and nothing of its text.
type Watch interface {
	// Changed is sent to when there is something to take.
	Changed() <-chan struct{}
	// Take returns the tasks that have changed since it was called last. With lost there
	// were more than are kept, and the list is to be looked at anew.
	Take() (changed []Task, lost bool)
	Close()
}

// Config describes a console. State, Tasks and Doctor must be set.
type Config struct {
	// State returns how the runtime stands. It asks nobody who may take long to answer.
	State func(ctx context.Context) State
	Tasks Tasks
	// Doctor runs all checks. It ends soon after ctx does.
	Doctor func(ctx context.Context) []Check

	// Machines serves POST /machines/{name}/drain and the like, for those who are let in; nil where commands run here.
	Machines http.Handler

	// Token is what people log in with. Empty lets in who calls from this machine.
	Token     string
	Version   string // of the runtime
	Workspace bool   // it is one of a platform, whose callers a token concerns, too

	// Refusals has wrong tokens wait, here and at the other doors; nil means one of its own.
	Refusals *refusals.Refusals

	FormTimeout time.Duration // for the form of the login to arrive; 0 is 10 s

	Logger *slog.Logger // nil discards
}

// A Console is what [Console.Handler] serves. Create it with [New].
type Console struct {
	cfg      Config
	log      *slog.Logger
	token    [sha256.Size]byte // a digest of Config.Token
	pages    *pages
	sessions sessions
	doctor   doctor
	current  current
	streams  chan struct{} // holds one for each open stream
}

// mostStreams is how many people look at the same time.
const mostStreams = 16

// New returns a console.
func New(cfg Config) (*Console, error) {
	if cfg.State == nil || cfg.Tasks == nil || cfg.Doctor == nil {
		return nil, errors.New("console: State, Tasks and Doctor must be set")
	}
	if cfg.FormTimeout == 0 {
		cfg.FormTimeout = formTimeout
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Refusals == nil {
		cfg.Refusals = refusals.New(refusals.Config{Logger: cfg.Logger})
	}
	c := &Console{
		cfg: cfg, log: cfg.Logger, token: sha256.Sum256([]byte(cfg.Token)), pages: newPages(),
		streams: make(chan struct{}, mostStreams),
	}
	c.current.state = cfg.State
	return c, nil
}

// Handler serves /console and everything below it. Agent serves A2A over JSON-RPC, at
// whatever path it is called, to whoever is let in here.
func (c *Console) Handler(agent http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /console", c.page)
	mux.HandleFunc("GET /console/static/{name}", c.static)
	mux.HandleFunc("POST /console/login", c.login)
	mux.HandleFunc("POST /console/logout", c.logout)
	mux.Handle("POST /console/api/a2a", c.within(agent))
	mux.Handle("GET /console/api/state", c.within(http.HandlerFunc(c.serveState)))
	mux.Handle("GET /console/api/events", c.within(http.HandlerFunc(c.events)))
	mux.Handle("POST /console/api/doctor", c.within(http.HandlerFunc(c.runDoctor)))
	if c.cfg.Machines != nil {
		mux.Handle("POST /console/api/machines/", c.within(http.StripPrefix("/console/api", c.cfg.Machines)))
	}
	return c.guarded(mux)
}

// policy is what the page may load and do: what comes from here, and nothing that is
// written into it.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// guarded says to browsers what the page may do, and lets no page of another site in.
func (c *Console) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		// No other site hears where its visitors come from. With no-referrer browsers would
		// send the forms of the page itself with Origin: null.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if caller.OtherPage(r) && r.URL.Path != "/console" { // a link to the page itself may stand anywhere
			refuse(w, http.StatusForbidden, "this is for the console's own page")
			return
		}
		next.ServeHTTP(w, r)
	})
}
