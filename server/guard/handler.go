package guard

import (
	"context"
	"iter"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

// Events are a stream.
type Events = iter.Seq2[*feed.Event, error]

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

// Failed is a stream that is an error and nothing else.
func Failed(err error) Events {
	return func(yield func(*feed.Event, error) bool) { yield(nil, err) }
}

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
