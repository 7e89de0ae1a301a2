package server

import (
	"context"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// A call is what all bindings know of the request they serve.
type call struct {
	baseURL string // where the caller reached us
	v0      bool   // by a method or path of 0.3
	failure *error // how it failed, for bindings that are not ours; may be nil
}

// noteFailure keeps the error of a call for whoever wants to answer it himself.
func noteFailure(ctx context.Context, err error) {
	if c := callOf(ctx); c.failure != nil {
		*c.failure = err
	}
}

// callOf returns the call of a context; the zero value outside of one.
func callOf(ctx context.Context) call {
	c, _ := ctx.Value(keyCall).(call)
	return c
}

// withCall returns the context of a call that comes in by r.
func (s *Server) withCall(r *http.Request, v0 bool) context.Context {
	ctx, _ := a2asrv.NewCallContext(r.Context(), a2asrv.NewServiceParams(r.Header))
	return context.WithValue(ctx, keyCall, call{baseURL: s.baseURL(r), v0: v0})
}
