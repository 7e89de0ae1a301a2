package tracing

import (
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// calledLocked makes the span of a request to the model, which has ended.
func (t *Tracing) calledLocked(w *work, c agent.ModelCalled) {
	if w.turn == nil {
		return
	}
	name := "chat"
	attrs := []attribute.KeyValue{attribute.String("gen_ai.operation.name", name), attribute.String("model.transport", c.Transport())}
	if w.model != "" {
		name += " " + w.model
		attrs = append(attrs, attribute.String("gen_ai.request.model", w.model))
	}
	_, span := t.tracer.Start(below(textOf(w.turn)), name, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithTimestamp(c.Begun), trace.WithAttributes(append(attrs, measured(c)...)...))
	if outcome := c.Outcome(); outcome != agent.CallOK {
		kind := outcome
		if c.Status != 0 {
			kind = strconv.Itoa(c.Status)
		}
		span.SetAttributes(attribute.String("error.type", kind))
		span.SetStatus(codes.Error, outcome)
	}
	span.End(trace.WithTimestamp(c.Begun.Add(c.Took)))
}

// measured is what is known of how a request went.
func measured(c agent.ModelCalled) (attrs []attribute.KeyValue) {
	known := func(key string, value float64) {
		if value > 0 {
			attrs = append(attrs, attribute.Float64(key, value))
		}
	}
	known("model.connect_seconds", c.Connect.Seconds())
	known("model.sent_seconds", c.Sent.Seconds())
	known("gen_ai.response.time_to_first_chunk", c.First.Seconds())
	known("model.tokens_per_second", c.Rate())
	if c.Tokens > 0 {
		attrs = append(attrs, attribute.Int("gen_ai.usage.output_tokens", c.Tokens))
	}
	if c.Status != 0 {
		attrs = append(attrs, attribute.Int("http.response.status_code", c.Status))
	}
	return attrs
}
