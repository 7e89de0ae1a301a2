package fakeplatform

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
)

// A Platform is one double. Make it with [New], [Listen] or [Start].
type Platform struct {
	URL string // where it listens, if it does

	// What a test may change before the first request.
	CanvasBudget time.Duration // how long a user's request is held; not in April, 0 is for ever
	IdleWindow   time.Duration // how long a workspace may be silent while it is asked
	RetryPause   time.Duration // before a delegation is tried a second time
	AlwaysAuth   bool          // workspaces are shown their inbound secret with each message

	era   Era
	mux   *chi.Mux
	agent *http.Client // speaks to workspaces

	hangUp func() // closes all connections; nil if somebody else listens

	ctx    context.Context // of what is handed on; ends with Close
	cancel context.CancelFunc
	jobs   sync.WaitGroup // dispatches that nobody waits for

	mu         sync.Mutex // guards the fields below, and all workspaces
	workspaces map[string]*workspace
	order      []string
	seq        int64
	rules      []*rule
	outage     bool
	repeats    int
	requests   []Request
	dispatches []Dispatch
	changed    chan struct{} // closed, and made anew, with each request and dispatch
}

// New returns a double that is an [http.Handler]. [Platform.Close] ends it.
func New(era Era) *Platform {
	p := &Platform{
		era: era, mux: chi.NewRouter(), workspaces: map[string]*workspace{}, changed: make(chan struct{}),
		IdleWindow: 5 * time.Minute, RetryPause: 8 * time.Second,
		agent: &http.Client{
			Transport:     &http.Transport{MaxIdleConnsPerHost: 8},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if era >= JUN {
		p.CanvasBudget, p.IdleWindow = 90*time.Second, 30*time.Minute
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.routes()
	return p
}

// Close ends what is being handed on, and waits for it.
func (p *Platform) Close() {
	p.cancel()
	p.jobs.Wait()
	p.agent.CloseIdleConnections()
}

func (p *Platform) routes() {
	p.registryRoutes()
	p.workspaceRoutes()
	p.messageRoutes()
	p.fileRoutes()
}

// own serves a path below /workspaces/{id} to whoever has that workspace's token.
func (p *Platform) own(pattern string, serve func(http.ResponseWriter, *http.Request, *workspace)) {
	p.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		if ws := p.authorized(w, r, r.PathValue("id")); ws != nil {
			serve(w, r, ws)
		}
	})
}

// locked runs change while nobody else looks.
func (p *Platform) locked(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// object is a JSON object to be sent.
type object map[string]any

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, reason string) {
	answer(w, status, object{"error": reason})
}

// read decodes a request's body, or refuses it.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 16<<20)).Decode(into); err != nil {
		refuse(w, http.StatusBadRequest, invalidBody)
		return false
	}
	return true
}

// newToken is as long as the platform's.
func newToken() string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	return base64.RawURLEncoding.EncodeToString(raw)
}

func newID() string { return uuid.NewString() }
