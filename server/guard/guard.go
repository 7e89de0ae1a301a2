package guard

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/Molecule-AI/molecule-codex-runtime/server/bounds"
	"github.com/Molecule-AI/molecule-codex-runtime/server/doors"
	"github.com/Molecule-AI/molecule-codex-runtime/server/respond"
	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

// A Guard stands between every binding and the handler: it refuses what the card
// does not promise, catches panics, and lets no error text through that was not
// written for callers. Whether a request makes sense is for the handler to say.
type Guard struct {
	next     Handler
	Log      *slog.Logger
	promised a2a.AgentCapabilities
	extended func(baseURL string) *a2a.AgentCard
}

// A Config says what a [Guard] holds callers to.
type Config struct {
	Handler  Handler
	Kept     Kept                                // the files that tasks hand out
	Platform bool                                // there is one, which finds those files itself
	Promised a2a.AgentCapabilities               // what the card says
	Extended func(baseURL string) *a2a.AgentCard // nil without an extended card
	Logger   *slog.Logger
}

// New returns a guard for cfg, in which all but Extended must be set.
func New(cfg Config) *Guard {
	return &Guard{next: ShowFiles(cfg.Handler, cfg.Kept, cfg.Platform), Log: cfg.Logger, promised: cfg.Promised, extended: cfg.Extended}
}

// guarded is one unary call behind the guard.
func guarded[Req, Res any](ctx context.Context, g *Guard, name string, req Req, f func(context.Context, Req) (Res, error)) (res Res, err error) {
	defer g.Rescue(ctx, name, &err)
	bounds.Decoded(ctx)
	if err := g.checkExtensions(ctx); err != nil {
		return res, err
	}
	nameCaller(ctx)
	res, err = f(ctx, req)
	return res, g.Public(ctx, name, err)
}

// guardedStream is one streaming call behind the guard.
func guardedStream[Req any](ctx context.Context, g *Guard, name string, req Req, after string, f func(context.Context, Req, string) Events) Events {
	return func(yield func(*feed.Event, error) bool) {
		bounds.Decoded(ctx)
		if err := cmp.Or(g.checkExtensions(ctx), g.checkStreaming()); err != nil {
			yield(nil, err)
			return
		}
		nameCaller(ctx)
		reading := true
		err := g.pump(ctx, name, func() Events { return f(ctx, req, after) }, func(e *feed.Event) bool {
			reading = reading && yield(e, nil)
			return reading
		})
		if err != nil && reading {
			yield(nil, err)
		}
	}
}

// pump hands events on until there are no more, one cannot be handed on, or the
// handler fails or panics, which is what it returns.
func (g *Guard) pump(ctx context.Context, name string, open func() Events, put func(*feed.Event) bool) (err error) {
	defer g.Rescue(ctx, name, &err)
	for e, err := range open() {
		if err != nil {
			return g.Public(ctx, name, err)
		}
		if !put(e) {
			return nil
		}
	}
	return nil
}

// Rescue turns a panic into the error of the call.
func (g *Guard) Rescue(ctx context.Context, name string, err *error) {
	v := recover()
	if v == nil {
		return
	}
	g.Log.ErrorContext(ctx, "call panicked", slog.String("request_id", respond.RequestID(ctx)), slog.String("call", name),
		slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
	*err = respond.InternalError(ctx)
}

// Public returns the error that the caller may see. That of an A2A error is its
// text, as it was written for callers. Everything else goes to the log whole
// and to the caller as an internal error; so does a plain wrapping of the
// SDK's internal and server errors, which says nothing about who the text is
// for. A result of Public is a fixed point of it.
func (g *Guard) Public(ctx context.Context, name string, err error) error {
	if err == nil {
		return nil
	}
	if _, already := errors.AsType[CutOffError](err); already {
		return err
	}
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrShutdown) {
		return CutOffError{error: a2a.NewError(a2a.ErrServerError, "the runtime is shutting down; ask for the task again when it is back")}
	}
	ae, written := errors.AsType[*a2a.Error](err)
	sentinel := wire.Sentinel(err)
	switch {
	case tasks.IsStopping(err) && written && sentinel != nil:
		return CutOffError{error: a2a.NewError(sentinel, ae.Error())}
	case written && sentinel != nil:
		return g.sayable(ctx, name, &a2a.Error{Err: sentinel, Message: ae.Error(), Details: ae.Details, TypedDetails: ae.TypedDetails})
	case sentinel != nil && !errors.Is(sentinel, a2a.ErrInternalError) && !errors.Is(sentinel, a2a.ErrServerError):
		return a2a.NewError(sentinel, err.Error())
	}
	level, told := slog.LevelError, respond.InternalError(ctx)
	if ctx.Err() != nil {
		level = slog.LevelDebug               // the caller has gone, and this is only its echo
		if errors.Is(err, context.Canceled) { // or it has ended its own half, and hears this
			told = a2a.NewError(a2a.ErrInvalidRequest, "the connection was closed before there was an answer; keep it open until then")
		}
	}
	g.Log.LogAttrs(ctx, level, "call failed", slog.String("request_id", respond.RequestID(ctx)), slog.String("call", name), slog.Any("err", err))
	return told
}

// sayable returns the error without its details if they cannot be encoded: they
// must not take the answer with them.
func (g *Guard) sayable(ctx context.Context, name string, e *a2a.Error) error {
	if len(e.Details) == 0 && len(e.TypedDetails) == 0 {
		return e
	}
	if _, err := wire.Marshal(wire.ToREST(e)); err != nil {
		g.Log.ErrorContext(ctx, "details of an error cannot be encoded", slog.String("request_id", respond.RequestID(ctx)), slog.String("call", name), slog.Any("err", err))
		e.Details, e.TypedDetails = nil, nil
	}
	return e
}

// nameCaller tells the handler that the caller has shown the token.
func nameCaller(ctx context.Context) {
	if !doors.ShownToken(ctx) {
		return
	}
	if cc, ok := a2asrv.CallContextFrom(ctx); ok && cc.User.Name == "" {
		cc.User = a2asrv.NewAuthenticatedUser("token", nil)
	}
}

// A CutOffError ends a call because the server stops. Most callers are told so. A platform
// that waits for a Message takes for done what is answered, and keeps what meets a broken
// connection, to send it again.
type CutOffError struct {
	error
	Silent bool // the connection is closed in place of an answer
}

func (e CutOffError) Unwrap() error { return e.error }

// ErrShutdown is the cause of the contexts of the requests that were still open
// when the server ran out of patience.
var ErrShutdown = errors.New("server is shutting down")
