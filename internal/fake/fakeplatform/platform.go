package fakeplatform

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
)

// A Platform is one double. Make it with [New], [Listen] or [Start].
type Platform struct {
	URL string // where it listens, if it does

	// What a test may change before the first request.
	CanvasBudget time.Duration // how long a user's request is held; not in April, 0 is for ever
	IdleWindow   time.Duration // how long a workspace may be silent while it is asked
	RetryPause   time.Duration // before a delegation is tried a second time
	AlwaysAuth   bool          // workspaces are shown their inbound secret with each message

	mux   *chi.Mux
	agent *http.Client // speaks to workspaces

	hangUp func() // closes all connections; nil if the double is a handler of another server

	ctx    context.Context // of what is handed on; ends with Close
	cancel context.CancelFunc
	jobs   sync.WaitGroup // dispatches, with or without a caller that waits

	world
	manners
}

// New returns a double that is an [http.Handler]. [Platform.Close] ends it.
func New(era Era) *Platform {
	p := &Platform{
		mux: chi.NewRouter(), world: newWorld(era),
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

// Kill is an outage that comes in the middle of things: a caller that waits for an answer
// does not learn whether what it asked for was done. Outage(false) ends it: what the
// platform has is in its database, and still there. The double must have been started
// with [Start].
func (p *Platform) Kill() {
	p.Outage(true)
	p.hangUp()
}

func (p *Platform) serve(w http.ResponseWriter, r *http.Request) {
	if how := p.rudeness(r); how != nil {
		how.serve(p.ctx.Done(), w, r, p.mux)
		return
	}
	p.mux.ServeHTTP(w, r)
}

// ServeHTTP implements [http.Handler].
func (p *Platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	record := Request{
		At: time.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(),
	}
	var body bytes.Buffer
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.TeeReader(r.Body, &limited{&body, mostRecorded}), r.Body}
	watched := &watcher{ResponseWriter: w}
	defer func() {
		failed := recover() // a cut connection is a panic
		record.Body, record.Status = body.Bytes(), watched.status
		p.received(record)
		if failed != nil {
			panic(failed)
		}
	}()
	p.serve(watched, r)
}
