package tracing

import (
	"cmp"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// observer notes what a job's observer is told, and tells it.
func (t *Tracing) observer(w *work, observe executor.Observer) executor.Observer {
	return func(e agent.Event) {
		if end, ok := e.(agent.Ended); ok {
			t.ended(w, end)
			answer := t.start(w.from, "answer", attribute.String("codex.outcome", string(end.Outcome)))
			observe(e)
			answer.End()
			return
		}
		t.note(w, e)
		observe(e)
	}
}

// note notes an event of a job that has not ended. Of a piece of text it costs a lock.
func (t *Tracing) note(w *work, e agent.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := e.(type) {
	case agent.TextDelta:
		if !w.said && w.turn != nil {
			w.turn.AddEvent("first text")
		}
		w.said = true
	case agent.Started:
		t.startedLocked(w, e)
	case agent.ItemStarted:
		t.toolLocked(w, e.Item)
	case agent.ItemCompleted:
		w.toolEndedLocked(e.Item)
	case agent.ModelCalled:
		t.calledLocked(w, e)
	case agent.Question:
		w.happenedLocked("question", attribute.String("question.kind", e.Kind))
	case agent.Answered:
		w.happenedLocked("answered")
	case agent.Paused:
		w.endTurnLocked("held", codes.Error)
		if w.wait == nil {
			w.wait = t.start(w.from, "queue", attribute.String("job.id", w.id))
		}
		w.wait.AddEvent("held", trace.WithAttributes(attribute.String("reason", string(e.Kind))))
	case agent.Resumed:
		w.happenedLocked("released")
	case agent.Steered:
		if w.wait != nil {
			w.wait.SetAttributes(attribute.String("codex.turn.id", e.TurnID))
		}
		w.endWaitLocked("steered")
	case agent.Unsteered:
		w.endWaitLocked("unsteered")
		w.wait = t.start(w.from, "queue", attribute.String("job.id", w.id))
	}
}

// happenedLocked notes what happens in the turn, or while it is waited for.
func (w *work) happenedLocked(what string, attrs ...attribute.KeyValue) {
	if span := w.runningLocked(); span != nil {
		span.AddEvent(what, trace.WithAttributes(attrs...))
	}
}

// runningLocked is the span of the turn, or else of the waiting; nil between the two.
func (w *work) runningLocked() trace.Span {
	if w.turn != nil {
		return w.turn
	}
	return w.wait
}

// startedLocked notes what codex has made of an attempt. One that an earlier process has begun has
// no span yet.
func (t *Tracing) startedLocked(w *work, e agent.Started) {
	w.endWaitLocked("")
	if w.turn == nil {
		w.beginLocked(t, e.Attempt)
	}
	w.turnID, w.model = e.TurnID, clip(e.Model)
	w.turn.SetAttributes(
		attribute.String("gen_ai.operation.name", "invoke_agent"), attribute.String("gen_ai.agent.name", "codex"),
		attribute.String("gen_ai.conversation.id", e.ThreadID), attribute.String("codex.turn.id", e.TurnID),
		attribute.Int("codex.attempt", e.Attempt), attribute.Bool("codex.thread.replaced", e.Replaced),
	)
	if e.Machine != "" {
		w.turn.SetAttributes(attribute.String("codex.machine", e.Machine))
	}
	if e.Model != "" {
		w.turn.SetAttributes(attribute.String("gen_ai.request.model", e.Model))
	}
}

// mostTools bounds the tools of a turn that are traced at the same time.
const mostTools = 256

// toolLocked begins the span of a tool.
func (t *Tracing) toolLocked(w *work, item agent.Item) {
	if !item.Kind.IsTool() || w.turn == nil || len(w.tools) >= mostTools || w.tools[item.ID] != nil {
		return
	}
	kind := string(item.Kind)
	name := cmp.Or(clip(item.Tool), kind)
	span := t.start(textOf(w.turn), "tool "+name,
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", name),
		attribute.String("gen_ai.tool.call.id", clip(item.ID)), attribute.String("tool.kind", kind))
	if item.Server != "" {
		span.SetAttributes(attribute.String("mcp.server", clip(item.Server)))
	}
	if w.tools == nil {
		w.tools = map[string]trace.Span{}
	}
	w.tools[item.ID] = span
}

// toolEndedLocked ends the span of a tool.
func (w *work) toolEndedLocked(item agent.Item) {
	span := w.tools[item.ID]
	if span == nil {
		return
	}
	delete(w.tools, item.ID)
	span.SetAttributes(attribute.String("tool.status", item.Status))
	if item.ExitCode != nil {
		span.SetAttributes(attribute.Int("process.exit.code", *item.ExitCode))
	}
	if item.Status == "failed" || item.Status == "declined" {
		span.SetStatus(codes.Error, item.Status)
	}
	span.End()
}

// ended ends the spans of a job.
func (t *Tracing) ended(w *work, end agent.Ended) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if span := w.runningLocked(); span != nil && end.Failure != nil { // in codex's name for it: its words may quote
		span.SetAttributes(attribute.String("error.type", string(end.Failure.Kind)), attribute.String("codex.error", end.Failure.Code))
	}
	if u := end.Usage; w.turn != nil {
		w.turn.SetAttributes(
			attribute.Int64("gen_ai.usage.input_tokens", u.InputTokens), attribute.Int64("gen_ai.usage.output_tokens", u.OutputTokens),
			attribute.Int64("gen_ai.usage.cached_input_tokens", u.CachedInputTokens),
			attribute.Int64("gen_ai.usage.reasoning_output_tokens", u.ReasoningOutputTokens),
		)
	}
	code := codes.Unset
	if end.Outcome == agent.Failed || end.Outcome == agent.Interrupted || end.Outcome == agent.Rejected {
		code = codes.Error
	}
	w.endTurnLocked(string(end.Outcome), code)
	w.endWaitLocked(string(end.Outcome))
	t.forget(w)
}
