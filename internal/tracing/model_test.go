package tracing

import (
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// TestModelCalls: each request to the model is a span below its turn, at the time at which it was made.
func TestModelCalls(t *testing.T) {
	made, memory := traced(t)
	job := executor.Job{ID: "j.1", Trace: agent.TraceContext{Parent: caller}}
	tell := submit(made, job)
	begun := time.Now().Add(-time.Hour)
	tell(agent.ModelCalled{Begun: begun}) // of no turn
	made.Attempt(job, 1)
	tell(agent.Started{ThreadID: "thread", TurnID: "turn", Model: "m", Attempt: 1})
	tell(agent.ModelCalled{
		Socket: true, Begun: begun, Connect: 60 * time.Millisecond, Sent: time.Millisecond, First: 500 * time.Millisecond,
		Took: 2500 * time.Millisecond, Tokens: 100, Status: 200,
	})
	tell(agent.Ended{Outcome: agent.Completed})

	all := spans(t, made, memory)
	s := one(t, all, "chat m")
	if turn := one(t, all, "turn"); s.Parent.SpanID() != turn.SpanContext.SpanID() || s.SpanKind != trace.SpanKindClient || s.Status.Code != codes.Unset {
		t.Errorf("below %s, a %s, %+v", s.Parent.SpanID(), s.SpanKind, s.Status)
	}
	if !s.StartTime.Equal(begun) || s.EndTime.Sub(s.StartTime) != 2500*time.Millisecond {
		t.Errorf("from %s to %s", s.StartTime, s.EndTime)
	}
	for key, want := range map[string]string{
		"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.output_tokens": "100", "model.transport": "websocket",
		"model.connect_seconds": "0.06", "model.sent_seconds": "0.001", "gen_ai.response.time_to_first_chunk": "0.5",
		"model.tokens_per_second": "50", "http.response.status_code": "200", "error.type": "",
	} {
		if got := value(s, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

// TestModelCallsThatFail say how, and nothing that is not known.
func TestModelCallsThatFail(t *testing.T) {
	for _, test := range []struct {
		status        int
		kind, outcome string
	}{{429, "429", agent.CallRefused}, {503, "503", agent.CallFailed}, {0, "cut", agent.CallCut}} {
		made, memory := traced(t)
		job := executor.Job{ID: "j.1"}
		tell := submit(made, job)
		made.Attempt(job, 1)
		tell(agent.Started{ThreadID: "thread", TurnID: "turn", Attempt: 1})
		tell(agent.ModelCalled{Begun: time.Now(), Took: time.Second, Status: test.status})
		tell(agent.Ended{Outcome: agent.Failed})
		s := one(t, spans(t, made, memory), "chat")
		if s.Status.Code != codes.Error || s.Status.Description != test.outcome || value(s, "error.type") != test.kind || value(s, "model.transport") != "http" {
			t.Errorf("%d: %+v, %v", test.status, s.Status, s.Attributes)
		}
		for _, key := range []string{"model.connect_seconds", "gen_ai.response.time_to_first_chunk", "model.tokens_per_second", "gen_ai.usage.output_tokens"} {
			if got := value(s, key); got != "" {
				t.Errorf("%d: %s is %s", test.status, key, got)
			}
		}
	}
}
