package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/server/wire"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A guard stands between every binding and the handler: it refuses what the card
// does not promise, catches panics, and lets no error text through that was not
// written for callers. Whether a request makes sense is for the handler to say.
type guard struct {
	next     Handler
	log      *slog.Logger
	promised a2a.AgentCapabilities               // what the card says
	extended func(baseURL string) *a2a.AgentCard // nil without an extended card
}

// guarded is one unary call behind the guard.
func guarded[Req, Res any](ctx context.Context, g *guard, name string, req Req, f func(context.Context, Req) (Res, error)) (res Res, err error) {
	defer g.rescue(ctx, name, &err)
	decoded(ctx)
	if err := g.checkExtensions(ctx); err != nil {
		return res, err
	}
	nameCaller(ctx)
	res, err = f(ctx, req)
	return res, g.public(ctx, name, err)
}

// guardedStream is one streaming call behind the guard.
func guardedStream[Req any](ctx context.Context, g *guard, name string, req Req, after string, f func(context.Context, Req, string) Events) Events {
	return func(yield func(*tasks.Event, error) bool) {
		decoded(ctx)
		if err := cmp.Or(g.checkExtensions(ctx), g.checkStreaming()); err != nil {
			yield(nil, err)
			return
		}
		nameCaller(ctx)
		reading := true
		err := g.pump(ctx, name, func() Events { return f(ctx, req, after) }, func(e *tasks.Event) bool {
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
func (g *guard) pump(ctx context.Context, name string, open func() Events, put func(*tasks.Event) bool) (err error) {
	defer g.rescue(ctx, name, &err)
	for e, err := range open() {
		if err != nil {
			return g.public(ctx, name, err)
		}
		if !put(e) {
			return nil
		}
	}
	return nil
}

// rescue turns a panic into the error of the call.
func (g *guard) rescue(ctx context.Context, name string, err *error) {
	v := recover()
	if v == nil {
		return
	}
	g.log.ErrorContext(ctx, "call panicked", slog.String("request_id", requestID(ctx)), slog.String("call", name),
		slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
	*err = internalError(ctx)
}

func internalError(ctx context.Context) error {
	text := "internal error"
	if id := requestID(ctx); id != "" {
		text = fmt.Sprintf("internal error; the log says more under request %s", id)
	}
	return a2a.NewError(a2a.ErrInternalError, text)
}

// public returns the error that the caller may see. That of an A2A error is its
// text, as it was written for callers. Everything else goes to the log whole
// and to the caller as an internal error; so does a plain wrapping of the
// SDK's internal and server errors, which says nothing about who the text is
// for. A result of public is a fixed point of it.
func (g *guard) public(ctx context.Context, name string, err error) error {
	if err == nil {
		return nil
	}
	if _, already := errors.AsType[cutOffError](err); already {
		return err
	}
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), errShutdown) {
		return cutOffError{error: a2a.NewError(a2a.ErrServerError, "the runtime is shutting down; ask for the task again when it is back")}
	}
	ae, written := errors.AsType[*a2a.Error](err)
	sentinel := wire.Sentinel(err)
	switch {
	case tasks.IsStopping(err) && written && sentinel != nil:
		return cutOffError{error: a2a.NewError(sentinel, ae.Error())}
	case written && sentinel != nil:
		return g.sayable(ctx, name, &a2a.Error{Err: sentinel, Message: ae.Error(), Details: ae.Details, TypedDetails: ae.TypedDetails})
	case sentinel != nil && !errors.Is(sentinel, a2a.ErrInternalError) && !errors.Is(sentinel, a2a.ErrServerError):
		return a2a.NewError(sentinel, err.Error())
	}
	level, told := slog.LevelError, internalError(ctx)
	if ctx.Err() != nil {
		level = slog.LevelDebug               // the caller has gone, and this is only its echo
		if errors.Is(err, context.Canceled) { // or it has ended its own half, and hears this
			told = a2a.NewError(a2a.ErrInvalidRequest, "the connection was closed before there was an answer; keep it open until then")
		}
	}
	g.log.LogAttrs(ctx, level, "call failed", slog.String("request_id", requestID(ctx)), slog.String("call", name), slog.Any("err", err))
	return told
}

// sayable returns the error without its details if they cannot be encoded: they
// must not take the answer with them.
func (g *guard) sayable(ctx context.Context, name string, e *a2a.Error) error {
	if len(e.Details) == 0 && len(e.TypedDetails) == 0 {
		return e
	}
	if _, err := wire.Marshal(wire.ToREST(e)); err != nil {
		g.log.ErrorContext(ctx, "details of an error cannot be encoded", slog.String("request_id", requestID(ctx)), slog.String("call", name), slog.Any("err", err))
		e.Details, e.TypedDetails = nil, nil
	}
	return e
}
