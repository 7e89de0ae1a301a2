package server

import (
	"context"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A call is what all bindings know of the request they serve.
type call struct {
	baseURL string // where the caller reached us
	v0      bool   // by a method or path of 0.3
}

// callOf returns the call of a context; the zero value outside of one.
func callOf(ctx context.Context) call {
	c, _ := ctx.Value(keyCall).(call)
	return c
}

// withCall returns the context of a call that comes in by r.
func (s *Server) withCall(r *http.Request, v0 bool) context.Context {
	ctx, _ := a2asrv.NewCallContext(r.Context(), a2asrv.NewServiceParams(r.Header))
	if v0 {
		ctx = tasks.WithV0(ctx)
	}
	return context.WithValue(ctx, keyCall, call{baseURL: s.baseURL(r), v0: v0})
}
