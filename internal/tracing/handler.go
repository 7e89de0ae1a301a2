package tracing

import (
	"context"
	"iter"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
)

// A Handler does what callers of A2A ask for.
type Handler interface {
	a2asrv.RequestHandler
	Stream(ctx context.Context, req *a2a.SendMessageRequest, after string) iter.Seq2[*feed.Event, error]
	Resume(ctx context.Context, req *a2a.SubscribeToTaskRequest, after string) iter.Seq2[*feed.Event, error]
}

// Handler returns a handler that makes a span of each call that brings a message, cancels or
// follows a task. Calls that only look are left out: they are many, and say nothing.
func (t *Tracing) Handler(next Handler) Handler {
	if t == nil {
		return next
	}
	return handler{next, t}
}

type handler struct {
	Handler
	t *Tracing
}

// begin begins the span of a call.
func (t *Tracing) begin(ctx context.Context, method string, m *a2a.Message) (context.Context, trace.Span) {
	attrs := []attribute.KeyValue{attribute.String("rpc.system", "a2a"), attribute.String("rpc.method", method)}
	if m != nil {
		attrs = append(attrs, attribute.String("a2a.message.id", clip(m.ID)))
	}
	return t.tracer.Start(parentOf(ctx, m), method, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attrs...))
}

// SendMessage implements [a2asrv.RequestHandler].
func (h handler) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	ctx, span := h.t.begin(ctx, "SendMessage", messageOf(req))
	defer span.End()
	result, err := h.Handler.SendMessage(ctx, marked(req, span))
	if task, ok := result.(*a2a.Task); ok && err == nil {
		noteTask(span, task.ID, task.ContextID, task.Status.State)
	}
	noteError(span, err)
	return result, err
}

// CancelTask implements [a2asrv.RequestHandler].
func (h handler) CancelTask(ctx context.Context, req *a2a.CancelTaskRequest) (*a2a.Task, error) {
	ctx, span := h.t.begin(ctx, "CancelTask", nil)
	defer span.End()
	task, err := h.Handler.CancelTask(ctx, req)
	if task != nil {
		noteTask(span, task.ID, task.ContextID, task.Status.State)
	}
	noteError(span, err)
	return task, err
}

// Stream sends a message and follows its task.
func (h handler) Stream(ctx context.Context, req *a2a.SendMessageRequest, after string) iter.Seq2[*feed.Event, error] {
	return func(yield func(*feed.Event, error) bool) {
		ctx, span := h.t.begin(ctx, "SendStreamingMessage", messageOf(req))
		defer span.End()
		followed(span, h.Handler.Stream(ctx, marked(req, span), after), yield)
	}
}

// Resume follows a task.
func (h handler) Resume(ctx context.Context, req *a2a.SubscribeToTaskRequest, after string) iter.Seq2[*feed.Event, error] {
	return func(yield func(*feed.Event, error) bool) {
		ctx, span := h.t.begin(ctx, "SubscribeToTask", nil)
		defer span.End()
		followed(span, h.Handler.Resume(ctx, req, after), yield)
	}
}

// followed passes events on and notes what is to be known of them.
func followed(span trace.Span, events iter.Seq2[*feed.Event, error], yield func(*feed.Event, error) bool) {
	known := false
	for e, err := range events {
		noteError(span, err)
		if e != nil && !known {
			info := e.TaskInfo()
			span.SetAttributes(attribute.String("a2a.task.id", string(info.TaskID)), attribute.String("a2a.context.id", clip(info.ContextID)))
			known = true
		}
		if e != nil {
			if update, ok := e.Event.(*a2a.TaskStatusUpdateEvent); ok && update.Status.State.Terminal() {
				span.SetAttributes(attribute.String("a2a.task.state", update.Status.State.String()))
			}
		}
		if !yield(e, err) {
			return
		}
	}
}

func messageOf(req *a2a.SendMessageRequest) *a2a.Message {
	if req == nil {
		return nil
	}
	return req.Message
}

func noteTask(span trace.Span, id a2a.TaskID, contextID string, state a2a.TaskState) {
	span.SetAttributes(attribute.String("a2a.task.id", string(id)), attribute.String("a2a.context.id", clip(contextID)), attribute.String("a2a.task.state", state.String()))
}

// noteError says that a call was refused, without the words: they may quote the caller's.
func noteError(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "refused")
	}
}

// clip bounds what others make up. What it returns is UTF-8: a batch in which anything is
// not is lost as a whole.
func clip(id string) string {
	const most = 128
	return strings.ToValidUTF8(id[:min(len(id), most)], "")
}
