package tracing

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// Tools returns a caller of tools for which what they ask for is part of the tool's span.
func (t *Tracing) Tools(next agent.ToolCaller) agent.ToolCaller {
	if t == nil || next == nil {
		return next
	}
	return tools{next, t}
}

type tools struct {
	agent.ToolCaller
	t *Tracing
}

// Call implements [agent.ToolCaller].
func (c tools) Call(ctx context.Context, call agent.ToolCall) agent.ToolResult {
	if w := c.t.find(call.Job); w != nil {
		if span := c.t.calling(w, call); span != nil {
			ctx = trace.ContextWithSpan(ctx, span)
		}
	}
	return c.ToolCaller.Call(ctx, call)
}

// calling returns the span that a call is part of: that of its item, which may not have been
// told of yet, or that of the turn for a call of a subagent's.
func (t *Tracing) calling(w *work, call agent.ToolCall) trace.Span {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.tools[call.ID] == nil && call.Turn == w.turnID {
		t.toolLocked(w, agent.Item{ID: call.ID, Kind: agent.KindTool, Tool: call.Tool})
	}
	if span := w.tools[call.ID]; span != nil {
		return span
	}
	return w.runningLocked()
}

// An Observe is [platform.Config.Observe].
type Observe func(ctx context.Context, call string) (http.Header, func(error))

// Calls returns an observer of the platform's calls that makes spans of those that are part
// of a trace: a heartbeat is not. The platform is told of the trace.
func (t *Tracing) Calls(next Observe) Observe {
	if t == nil {
		return next
	}
	return func(ctx context.Context, call string) (http.Header, func(error)) {
		header, ended := next(ctx, call)
		if !trace.SpanContextFromContext(ctx).IsValid() {
			return header, ended
		}
		ctx, span := t.tracer.Start(ctx, "platform", trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attribute.String("platform.call", call)))
		if header == nil {
			header = http.Header{}
		}
		w3c{}.Inject(ctx, propagation.HeaderCarrier(header))
		return header, func(err error) {
			outcome := platform.Outcome(err)
			span.SetAttributes(attribute.String("outcome", outcome))
			if status := platform.StatusOf(err); status != 0 {
				span.SetAttributes(attribute.Int("http.response.status_code", status))
			}
			if outcome != "ok" {
				span.SetStatus(codes.Error, outcome)
			}
			span.End()
			ended(err)
		}
	}
}
