package forward

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/crowd"
)

const (
	// mostOpen is how many connections there are, of which codex has one for each request
	// that it makes. Whoever is on this machine can open one.
	mostOpen  = 1024
	maxHeader = 64 << 10
	// idleTimeout is longer than codex itself keeps a connection that is idle (90 s), so
	// that none closes while codex takes it up.
	idleTimeout = 2 * time.Minute
)

// A Target is an endpoint and its key.
type Target struct {
	URL string // such as https://api.openai.com/v1
	Key string // empty where it wants none
}

// A Forwarder is one listener. Start it with [Listen].
type Forwarder struct {
	http      *http.Server
	transport *http.Transport
	host      string          // the address it listens on
	ctx       context.Context //nolint:containedctx // of all that it does
	cancel    context.CancelFunc
	served    chan error // 1-buffered; told once when the listener is closed
	tell      func(Call)
	log       *slog.Logger
	sockets   openSockets
	spare     spare
	warming   sync.WaitGroup
	lastUse   atomic.Int64 // of a connection to the endpoint, in ns of the clock

	mu    sync.Mutex        // guards the fields below
	token [sha256.Size]byte // the hash of it; of none before Renew
	to    destination
	known map[string]*experience // by the URL of an endpoint
}

// A destination is where requests go, and with what.
type destination struct {
	url     *url.URL
	key     string
	secret  *secret // the key
	sockets *experience
	ctx     context.Context //nolint:containedctx // it ends when requests go elsewhere
	leave   context.CancelFunc
}

// Listen listens on a loopback port that the system picks, until [Forwarder.Close].
// Until [Forwarder.Renew] it lets nobody through. The transport is how endpoints are
// reached; it belongs to the forwarder from now on. Tell is called for each request to the model
// that has ended, before codex has the end of the answer: it must not block.
func Listen(transport *http.Transport, tell func(Call), log *slog.Logger) (*Forwarder, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it takes no time
	if err != nil {
		return nil, fmt.Errorf("listen for codex's model requests: %w", err)
	}
	transport.DisableCompression = true // an answer that is packed all the same is told from others
	transport.MaxIdleConnsPerHost = 16
	transport.IdleConnTimeout = idleTime
	ctx, cancel := context.WithCancel(context.Background())
	f := &Forwarder{
		transport: transport, host: listener.Addr().String(), ctx: ctx, cancel: cancel, served: make(chan error, 1), tell: tell, log: log,
		known: map[string]*experience{}, spare: spare{transport: onlyHTTP1(transport)},
	}
	f.http = &http.Server{
		Handler:           f.handler(),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	bounded := crowd.Bound(f.http, listener, min(mostOpen, crowd.Most()/2), log)
	go func() { f.served <- f.http.Serve(bounded) }()
	return f, nil
}

// Renew says where requests go from now on, and returns what codex needs: the base
// of its URLs, and the token that it has to show. The token before is worth nothing
// any more, so there is one codex at a time that gets through.
func (f *Forwarder) Renew(to Target) (baseURL, token string, err error) {
	target, err := url.Parse(strings.TrimRight(to.URL, "/"))
	if err != nil || target.Host == "" {
		return "", "", errors.New("the URL of the model's endpoint cannot be read")
	}
	key := strings.TrimSpace(to.Key)
	token = rand.Text()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return "", "", errors.New("the way to the model's endpoint is closed")
	}
	sockets := f.known[target.String()]
	if sockets == nil {
		sockets = &experience{}
		f.known[target.String()] = sockets
	}
	f.retargetLocked(sha256.Sum256([]byte(token)), destination{url: target, key: key, secret: newSecret(key), sockets: sockets})
	f.warmLocked()
	return "http://" + f.host, token, nil
}

// retargetLocked has requests go elsewhere. The sockets of the codex before are closed.
func (f *Forwarder) retargetLocked(token [sha256.Size]byte, to destination) {
	if f.to.leave != nil {
		f.to.leave()
	}
	to.ctx, to.leave = context.WithCancel(f.ctx)
	f.token, f.to = token, to
}

// let returns where a request goes that shows the token.
func (f *Forwarder) let(r *http.Request) (to destination, ok bool) {
	shown, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	sum := sha256.Sum256([]byte(shown))
	f.mu.Lock()
	defer f.mu.Unlock()
	if !bearer || subtle.ConstantTimeCompare(sum[:], f.token[:]) != 1 {
		return destination{}, false
	}
	return f.to, true
}

// Close ends the requests that are open and waits for them, at most until ctx ends.
// It must be called once.
func (f *Forwarder) Close(ctx context.Context) error {
	f.cancel()
	f.mu.Lock()
	f.retargetLocked([sha256.Size]byte{}, destination{}) // no token opens anything any more
	f.mu.Unlock()
	err := f.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, f.http.Close())
	}
	err = errors.Join(err, f.sockets.end(ctx))
	f.warming.Wait()
	f.spare.close()
	f.transport.CloseIdleConnections()
	if served := <-f.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
