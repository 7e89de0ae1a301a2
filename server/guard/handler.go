package guard

import (
	"context"
	"iter"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// Events are a stream.
type Events = iter.Seq2[*tasks.Event, error]

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
	return func(yield func(*tasks.Event, error) bool) { yield(nil, err) }
}
