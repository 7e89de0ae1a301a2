package tracing

import (
	"context"
	"iter"
	"maps"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// A desk answers, and remembers what it was asked and in which span.
type desk struct {
	Handler
	err  error
	got  *a2a.SendMessageRequest
	span trace.SpanContext
}

func (d *desk) SendMessage(ctx context.Context, req *a2a.SendMessageRequest) (a2a.SendMessageResult, error) {
	d.got, d.span = req, trace.SpanContextFromContext(ctx)
	if d.err != nil {
		return nil, d.err
	}
	return &a2a.Task{ID: "T", ContextID: "C", Status: a2a.TaskStatus{State: a2a.TaskStateCompleted}}, nil
}

func (d *desk) Stream(_ context.Context, req *a2a.SendMessageRequest, _ string) iter.Seq2[*feed.Event, error] {
	d.got = req
	return func(yield func(*feed.Event, error) bool) {
		_ = yield(&feed.Event{Event: &a2a.Task{ID: "T", ContextID: "C"}}, nil) &&
			yield(&feed.Event{Event: &a2a.TaskStatusUpdateEvent{TaskID: "T", ContextID: "C", Status: a2a.TaskStatus{State: a2a.TaskStateFailed}}}, nil)
	}
}

func message(meta map[string]any) *a2a.SendMessageRequest {
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("hi"))
	m.ID, m.Metadata = strings.Repeat("m", 500), meta
	return &a2a.SendMessageRequest{Message: m}
}

func withHeader(t *testing.T, traceparent string) context.Context {
	ctx, _ := a2asrv.NewCallContext(t.Context(), a2asrv.NewServiceParams(map[string][]string{"Traceparent": {traceparent}}))
	return ctx
}

// TestParents: a caller's trace is found in the header and, where that has none, in the
// message. What is no trace begins one.
func TestParents(t *testing.T) {
	const other = "00-11112222333344445555666677778888-b7ad6b7169203331-01"
	for _, test := range []struct{ name, header, meta, want string }{
		{"neither", "", "", ""},
		{"header", caller, "", "0af7"},
		{"message", "", other, "1111"},
		{"both", caller, other, "0af7"},
		{"neither can be read", "00-xyz", "rubbish", ""},
		{"header cannot be read", "rubbish", other, "1111"},
	} {
		t.Run(test.name, func(t *testing.T) {
			made, memory := traced(t)
			d := &desk{}
			meta := map[string]any{"mine": 1.0}
			if test.meta != "" {
				meta[keys.Traceparent] = test.meta
			}
			before := maps.Clone(meta)
			if _, err := made.Handler(d).SendMessage(withHeader(t, test.header), message(meta)); err != nil {
				t.Fatal(err)
			}
			s := one(t, spans(t, made, memory), "SendMessage")
			if got := s.SpanContext.TraceID().String(); !strings.HasPrefix(got, test.want) || s.Parent.IsValid() != (test.want != "") {
				t.Errorf("the trace is %s below %s", got, s.Parent.SpanID())
			}
			carried, _ := d.got.Message.Metadata[keys.Traceparent].(string)
			if !strings.Contains(carried, s.SpanContext.SpanID().String()) || d.span.SpanID() != s.SpanContext.SpanID() || d.got.Message.Metadata["mine"] != 1.0 {
				t.Errorf("the message carries %v", d.got.Message.Metadata)
			}
			if !maps.Equal(meta, before) {
				t.Errorf("the caller's own metadata are %v now", meta)
			}
			if value(s, "a2a.task.id") != "T" || value(s, "a2a.task.state") != "TASK_STATE_COMPLETED" || len(value(s, "a2a.message.id")) > 128 {
				t.Errorf("attributes: %v", s.Attributes)
			}
		})
	}
}

func TestRefusedCall(t *testing.T) {
	made, memory := traced(t)
	h := made.Handler(&desk{err: a2a.NewError(a2a.ErrInvalidParams, "SECRET")})
	if _, err := h.SendMessage(t.Context(), message(nil)); err == nil {
		t.Fatal("no error")
	}
	if _, err := h.SendMessage(t.Context(), nil); err == nil {
		t.Fatal("no error")
	}
	for _, s := range spans(t, made, memory) {
		if s.Status.Code != codes.Error || s.Status.Description != "refused" {
			t.Errorf("status %+v", s.Status)
		}
	}
}

// TestStreamIsASpan: it lasts until its reader has had the last event, or has left.
func TestStreamIsASpan(t *testing.T) {
	made, memory := traced(t)
	n := 0
	for range made.Handler(&desk{}).Stream(t.Context(), message(nil), "") {
		n++
		if len(spans(t, made, memory)) != 0 {
			t.Error("the span has ended before the stream")
		}
	}
	if s := one(t, spans(t, made, memory), "SendStreamingMessage"); n != 2 || value(s, "a2a.task.id") != "T" || value(s, "a2a.task.state") != "TASK_STATE_FAILED" {
		t.Errorf("%d events, %v", n, s.Attributes)
	}
	memory.Reset()
	for range made.Handler(&desk{}).Stream(t.Context(), message(nil), "") {
		break
	}
	one(t, spans(t, made, memory), "SendStreamingMessage")
}
