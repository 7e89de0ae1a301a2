package tracing

import (
	"context"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// w3c reads and writes W3C Trace Context.
type w3c = propagation.TraceContext

// metadata is that of a message as a carrier of a trace context.
type metadata map[string]any

func (m metadata) Get(key string) string {
	text, _ := m[key].(string)
	return text
}

func (m metadata) Set(key, value string) { m[key] = value }

func (m metadata) Keys() []string { return nil }

// headers are those of the request that a call came in by.
type headers struct{ *a2asrv.ServiceParams }

func (h headers) Get(key string) string {
	if values, _ := h.ServiceParams.Get(key); len(values) > 0 {
		return values[0]
	}
	return ""
}

func (headers) Set(string, string) {}

func (headers) Keys() []string { return nil }

// parentOf is the context of a call, below what its caller says that it is part of: by the
// header of the request or, where there is none, in the message.
func parentOf(ctx context.Context, m *a2a.Message) context.Context {
	if call, ok := a2asrv.CallContextFrom(ctx); ok {
		ctx = w3c{}.Extract(ctx, headers{call.ServiceParams()})
	}
	if m != nil && !trace.SpanContextFromContext(ctx).IsValid() {
		ctx = w3c{}.Extract(ctx, metadata(m.Metadata))
	}
	return ctx
}

// textOf is the place of a span as text.
func textOf(span trace.Span) agent.TraceContext {
	carrier := propagation.MapCarrier{}
	w3c{}.Inject(trace.ContextWithSpan(context.Background(), span), carrier)
	return agent.TraceContext{Parent: carrier[keys.Traceparent], State: carrier[keys.Tracestate]}
}

// below is a context below a place that is known by its text.
func below(at agent.TraceContext) context.Context {
	return w3c{}.Extract(context.Background(), propagation.MapCarrier{keys.Traceparent: at.Parent, keys.Tracestate: at.State})
}

// marked is a request whose message says that it is part of the span. The caller's is left
// as it is.
func marked(req *a2a.SendMessageRequest, span trace.Span) *a2a.SendMessageRequest {
	if req == nil || req.Message == nil {
		return req
	}
	out, message := *req, *req.Message
	message.Metadata = make(map[string]any, len(req.Message.Metadata)+2)
	for key, value := range req.Message.Metadata {
		if key != keys.Traceparent && key != keys.Tracestate {
			message.Metadata[key] = value
		}
	}
	w3c{}.Inject(trace.ContextWithSpan(context.Background(), span), metadata(message.Metadata))
	out.Message = &message
	return &out
}
