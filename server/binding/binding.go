package binding

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/guard"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
)

// A Config says what [Bindings] serve.
type Config struct {
	Guard *guard.Guard
	// Methods are those of extensions, over JSON-RPC beside the methods of A2A 1.0.
	Methods map[string]func(ctx context.Context, params json.RawMessage) (any, error)
	// Reply, if not nil, makes the Message that a blocking 0.3 message/send is answered
	// with. If it returns nil, the task is the answer.
	Reply func(*a2a.Task) *a2a.Message
	// NewID makes ids for messages of 0.3 that have none; nil means that they must have one.
	NewID     func() string
	PublicURL string        // where callers reach us; empty means what the request says
	MaxBody   int64         // in bytes
	KeepAlive time.Duration // between comments on a silent stream
	Metrics   Counts
	Logger    *slog.Logger
}

// Counts counts what is to be seen here alone.
type Counts interface {
	StreamOpened()
	StreamClosed()
	StreamDropped() // because its reader stalled, beside that it is closed
	RPCFailed(code int)
}

// Bindings are JSON-RPC and HTTP+JSON of both versions in front of a guard.
type Bindings struct {
	cfg    Config
	log    *slog.Logger
	guard  *guard.Guard
	v1, v0 map[string]method // JSON-RPC methods by name

	// OpenWithin is how long a stream that resumes keeps its header back. It may
	// have nothing to say for long, and clients give up on an answer without one;
	// until then an error is an answer of its own.
	OpenWithin time.Duration
}

// New returns those of cfg, in which all must be set that does not say otherwise.
func New(cfg Config) *Bindings {
	b := &Bindings{
		cfg: cfg, log: cfg.Logger, guard: cfg.Guard, OpenWithin: 100 * time.Millisecond,
		v1: v1Methods(cfg.Guard), v0: v0Methods(cfg.Guard, cfg.Reply, cfg.NewID),
	}
	b.extend(cfg.Methods)
	return b
}

// call returns the context of a call that comes in by r.
func (b *Bindings) call(r *http.Request, v0 bool) context.Context {
	return guard.WithCall(r.Context(), r.Header, guard.Call{BaseURL: respond.BaseURL(r, b.cfg.PublicURL), V0: v0})
}

// extend adds the methods of extensions to those of 1.0, which stay what they are.
func (b *Bindings) extend(methods map[string]func(context.Context, json.RawMessage) (any, error)) {
	for name, f := range methods {
		if _, taken := b.v1[name]; !taken {
			b.v1[name] = method{unary: func(ctx context.Context, params json.RawMessage) (any, error) {
				return b.guard.Extension(ctx, name, params, f)
			}}
		}
	}
}
