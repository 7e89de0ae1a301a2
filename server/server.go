package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A Handler does what callers ask for; a [tasks.Engine] is one.
type Handler interface {
	a2asrv.RequestHandler
	// Stream is SendStreamingMessage, and Resume is SubscribeToTask, with the
	// places of their events. They go on behind the event whose ID is after, which
	// is what a caller sent for one, if it is not empty.
	Stream(ctx context.Context, req *a2a.SendMessageRequest, after string) Events
	Resume(ctx context.Context, req *a2a.SubscribeToTaskRequest, after string) Events
}

var _ Handler = (*tasks.Engine)(nil)

// Config says what a [Server] serves and to whom. Handler and Card must be set;
// the zero value of everything else works.
type Config struct {
	Handler Handler
	// Card makes the agent card for a server that is reached at baseURL, which
	// has no slash at its end. It is called for each request of the card. What its
	// capabilities promise, and the extensions it requires, are held to; they must
	// be the same each time.
	Card func(baseURL string) *a2a.AgentCard
	// ExtendedCard makes the card that is shown to callers who have shown the
	// token, or to all where none is set. Nil means that there is none. Callers of
	// 1.0 get it only if Card says so in its capabilities.
	ExtendedCard func(baseURL string) *a2a.AgentCard
	// PublicURL is where callers reach this server; empty means what the Host
	// header of the request says.
	PublicURL string
	PureCard  bool // serve the card of A2A 1.0 alone, not the union with 0.3

	// ReplyAsMessage makes a blocking 0.3 message/send answer with the Message
	// that Reply makes of the task. If Reply returns nil, the task is the answer.
	ReplyAsMessage bool
	Reply          func(*a2a.Task) *a2a.Message

	// Methods are those of extensions that the card names, over JSON-RPC beside the
	// methods of A2A 1.0. Params are an object.
	Methods map[string]func(ctx context.Context, params json.RawMessage) (any, error)

	Platform *Platform // of the workspace that this is; nil standing alone
	Kept     Kept      // the files that tasks hand out; nil if there are none any more

	// Console makes what serves /console and everything below it, and says itself who is
	// let in. Agent is the JSON-RPC door, for those who are. Nil means that there is none.
	Console func(agent http.Handler) http.Handler

	Token string // the bearer token asked of callers; empty asks for none
	// Refusals has wrong tokens wait, here and at the console; nil means one of its own.
	Refusals *refusals.Refusals
	// AnyHost takes requests by addresses, and some by whatever name they call us, as a
	// workspace container needs: its platform calls it by names that only the platform
	// knows. They are those that no browser's page can send, tell nothing, or are asked
	// for a credential.
	AnyHost        bool
	AllowedHosts   []string // host names allowed beside loopback, the listen address and PublicURL
	AllowedOrigins []string // origins allowed beside the server's own, as scheme://host[:port]

	// Ready tells whether a turn would run. Nil means always ready.
	Ready func(ctx context.Context) Readiness

	Registry *prometheus.Registry // served at /metrics; nil means a new one
	Metrics  *Metrics             // where requests are counted; nil means a new one in Registry

	MaxBody       int64         // 0 means 16 MiB
	MaxReading    int64         // for all bodies that are being read, and what is decoded of them, beside a little of each; 0 means four times MaxBody
	MaxAnswering  int64         // for all answers that are being written, beside a little of each; 0 means four times MaxBody
	BodyTimeout   time.Duration // for reading a request body; 0 means one minute
	WriteTimeout  time.Duration // for each write of a response; 0 means 10 s
	KeepAlive     time.Duration // between comments on a silent stream; 0 means 4 s: a client of the Python SDK gives up after 5
	ShutdownGrace time.Duration // what open requests get to end by themselves; 0 means 8 s

	Logger *slog.Logger // nil discards
}

// A Server serves all routes of the runtime. Create it with [New].
type Server struct {
	cfg     Config
	log     *slog.Logger
	metrics *Metrics
	handler http.Handler
	guard   *guard
	doors   doors
	v1, v0  map[string]method // JSON-RPC methods by name
	started time.Time         // the Last-Modified of the card
	work    inflight
	bodies  bodies
	answers answers
	ready   readyLog

	openWithin time.Duration // how long a stream that resumes keeps its header back
}

// New returns a server for cfg. It opens nothing.
func New(cfg Config) (*Server, error) {
	if cfg.Handler == nil || cfg.Card == nil {
		return nil, errors.New("server: Handler and Card must be set")
	}
	if cfg.ReplyAsMessage && cfg.Reply == nil {
		return nil, errors.New("server: ReplyAsMessage needs Reply")
	}
	s, err := bare(cfg)
	if err != nil {
		return nil, err
	}
	s.guard = &guard{next: s.shown(cfg.Handler), log: s.log, extended: cfg.ExtendedCard}
	s.guard.promised = cfg.Card("http://localhost").Capabilities
	s.v1 = v1Methods(s.guard)
	s.extend(cfg.Methods)
	var newID func() string // of messages that have none: see [readV0Message]
	if cfg.Platform != nil {
		newID = uuid.NewString
	}
	s.v0 = v0Methods(s.guard, s.reply(), newID)
	s.handler = s.routes()
	return s, nil
}

// shown is a handler that shows callers the files which tasks hand out.
func (s *Server) shown(next Handler) Handler {
	return &handout{Handler: next, kept: s.cfg.Kept, platform: s.cfg.Platform != nil}
}

// bare returns a server that has no routes yet.
func bare(cfg Config) (*Server, error) {
	cfg.setDefaults()
	doors, err := newDoors(&cfg)
	if err != nil {
		return nil, err
	}
	return &Server{
		cfg: cfg, log: cfg.Logger, metrics: cfg.Metrics, doors: doors, started: time.Now().UTC(), openWithin: openWithin,
		bodies: newBodies(cfg.MaxReading), answers: newAnswers(cfg.MaxAnswering),
	}, nil
}

// Handler returns the handler of all routes, for a server that is run by
// somebody else, as in tests. It does not drain; [Server.Serve] does.
func (s *Server) Handler() http.Handler { return s.handler }

// reply is what turns the task of a blocking 0.3 call into its answer; nil
// leaves tasks as they are.
func (s *Server) reply() func(*a2a.Task) *a2a.Message {
	if !s.cfg.ReplyAsMessage {
		return nil
	}
	return s.cfg.Reply
}

func (c *Config) setDefaults() {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Kept == nil {
		c.Kept = nothingKept{}
	}
	if c.Registry == nil {
		c.Registry = prometheus.NewRegistry()
	}
	if c.Metrics == nil {
		c.Metrics = NewMetrics(c.Registry)
	}
	if c.Refusals == nil {
		c.Refusals = refusals.New(refusals.Config{Counted: c.Metrics.Refused, Logger: c.Logger})
	}
	if c.MaxBody <= 0 {
		c.MaxBody = 16 << 20
	}
	if c.MaxReading <= 0 {
		c.MaxReading = 4 * c.MaxBody
	}
	if c.MaxAnswering <= 0 {
		c.MaxAnswering = 4 * c.MaxBody
	}
	orDuration(&c.BodyTimeout, time.Minute)
	orDuration(&c.WriteTimeout, 10*time.Second)
	orDuration(&c.KeepAlive, 4*time.Second)
	orDuration(&c.ShutdownGrace, 8*time.Second)
}

func orDuration(d *time.Duration, fallback time.Duration) {
	if *d <= 0 {
		*d = fallback
	}
}

func parsePublicURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("server: public URL %q: want http://host[:port] or https://host[:port]", raw)
	}
	return u, nil
}
