package guard

import (
	"context"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A Call is what is known of a call beside its request.
type Call struct {
	BaseURL string // where the caller reached us
	V0      bool   // by a method or path of 0.3
}

type callKey struct{}

// callOf returns the call of a context; the zero value outside of one.
func callOf(ctx context.Context) Call {
	c, _ := ctx.Value(callKey{}).(Call)
	return c
}

// WithCall returns the context of a call that comes in under header.
func WithCall(ctx context.Context, header http.Header, c Call) context.Context {
	ctx, _ = a2asrv.NewCallContext(ctx, a2asrv.NewServiceParams(header))
	if c.V0 {
		ctx = tasks.WithV0(ctx)
	}
	return context.WithValue(ctx, callKey{}, c)
}
