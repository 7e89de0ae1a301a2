package server

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/refusals"
	"github.com/Molecule-AI/molecule-codex-runtime/server/binding"
	"github.com/Molecule-AI/molecule-codex-runtime/server/doors"
	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
)

// Config says what a [Server] serves and to whom. Handler and Card must be set;
// the zero value of everything else works.
type Config struct {
	Handler guard.Handler
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

	Platform *Platform  // of the workspace that this is; nil standing alone
	Kept     guard.Kept // the files that tasks hand out; nil if there are none any more

	// Console makes what serves /console and everything below it, and says itself who is
	// let in. Agent is the JSON-RPC door, for those who are. Nil means that there is none.
	Console func(agent http.Handler) http.Handler

	// Machines serves /machines and what is below it: the machines that commands run on. Nil means that there is none.
	Machines http.Handler

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

// bindings say what is served to callers of A2A.
func (c *Config) bindings() binding.Config {
	out := binding.Config{
		Guard: guard.New(guard.Config{
			Handler: c.Handler, Kept: c.Kept, Platform: c.Platform != nil, Logger: c.Logger,
			Promised: c.Card("http://localhost").Capabilities, Extended: c.ExtendedCard,
		}),
		Methods: c.Methods, PublicURL: c.PublicURL, MaxBody: c.MaxBody, KeepAlive: c.KeepAlive, Metrics: c.Metrics, Logger: c.Logger,
	}
	if c.ReplyAsMessage {
		out.Reply = c.Reply
	}
	if c.Platform != nil {
		out.NewID = uuid.NewString
	}
	return out
}

// doors say who is let in.
func (c *Config) doors() doors.Config {
	d := doors.Config{
		Token: c.Token, PublicURL: c.PublicURL, AnyHost: c.AnyHost, AllowedHosts: c.AllowedHosts, AllowedOrigins: c.AllowedOrigins,
		Refusals: c.Refusals, Refused: c.Metrics.Refused,
	}
	if p := c.Platform; p != nil {
		d.Secret, d.Workspace, d.RequireAuth = p.Secret, p.Token, p.RequireAuth
	}
	return d
}

func orDuration(d *time.Duration, fallback time.Duration) {
	if *d <= 0 {
		*d = fallback
	}
}
