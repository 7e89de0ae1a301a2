package tracing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// TestTurn: queue, turn, tool, platform call and answer are in one trace, each below what
// it is part of, and have nothing of what was said.
func TestTurn(t *testing.T) {
	made, memory := traced(t)
	const secret = "SECRET"
	job := executor.Job{ID: "j.1", Trace: agent.TraceContext{Parent: caller, State: "v=1"}, Input: []agent.Input{agent.Text(secret)}}
	var seen []agent.Event
	tell, _ := made.Watch(job, "", func(e agent.Event) { seen = append(seen, e) })
	told := made.Attempt(job, 1)
	tell(agent.Started{ThreadID: "thread", TurnID: "turn", Model: "m", Attempt: 1})
	tell(agent.TextDelta{ItemID: "a", Text: secret})
	tell(agent.TextDelta{ItemID: "a", Text: secret})
	var header http.Header
	observe := made.Calls(func(context.Context, string) (http.Header, func(error)) { return nil, func(error) {} })
	made.Tools(toolFunc(func(ctx context.Context) {
		var ended func(error)
		header, ended = observe(ctx, "list the peers")
		ended(errors.New(secret))
	})).Call(t.Context(), agent.ToolCall{ID: "call", Job: "j.1", Turn: "turn", Tool: "list_peers"}) // which can overtake its item
	tell(agent.ItemStarted{Item: agent.Item{ID: "call", Kind: agent.KindTool, Tool: "list_peers", Arguments: []byte(`"` + secret + `"`)}})
	tell(agent.ItemCompleted{Item: agent.Item{ID: "call", Kind: agent.KindTool, Tool: "list_peers", Status: "completed"}})
	made.Tools(toolFunc(func(ctx context.Context) { // of a subagent's, for which there is no item here
		if got := trace.SpanContextFromContext(ctx).SpanID().String(); !strings.Contains(told.Parent, got) {
			t.Errorf("a subagent's call is below %s", got)
		}
	})).Call(t.Context(), agent.ToolCall{ID: "other", Job: "j.1", Turn: "another", Tool: "list_peers"})
	code := 3
	tell(agent.ItemStarted{Item: agent.Item{ID: "cmd", Kind: agent.KindCommand, Command: secret}})
	tell(agent.ItemCompleted{Item: agent.Item{ID: "cmd", Kind: agent.KindCommand, Command: secret, Status: "failed", ExitCode: &code, Output: secret}})
	tell(agent.Ended{Outcome: agent.Completed, Usage: agent.Usage{InputTokens: 7, OutputTokens: 2}, Messages: []agent.Message{{Text: secret}}})
	if len(seen) != 8 {
		t.Errorf("the observer was told of %d events", len(seen))
	}

	all := spans(t, made, memory)
	if len(all) != 6 {
		t.Fatalf("spans: %v", names(all))
	}
	turn, tool, command, call := one(t, all, "turn"), one(t, all, "tool list_peers"), one(t, all, "tool command"), one(t, all, "platform")
	for _, s := range all {
		if got := s.SpanContext.TraceID().String(); got != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("%s is in the trace %s", s.Name, got)
		}
		if strings.Contains(fmt.Sprint(s), secret) {
			t.Errorf("%s tells what was said: %+v", s.Name, s)
		}
	}
	for name, parent := range map[string]string{"queue": "b7ad6b7169203331", "turn": "b7ad6b7169203331", "answer": "b7ad6b7169203331",
		"tool list_peers": turn.SpanContext.SpanID().String(), "tool command": turn.SpanContext.SpanID().String(), "platform": tool.SpanContext.SpanID().String()} {
		if got := one(t, all, name).Parent.SpanID().String(); got != parent {
			t.Errorf("%s is below %s, want %s", name, got, parent)
		}
	}
	if want := "00-0af7651916cd43dd8448eb211c80319c-" + turn.SpanContext.SpanID().String() + "-01"; told.Parent != want || told.State != "v=1" {
		t.Errorf("codex is told %+v, want %s", told, want)
	}
	if want := call.SpanContext.SpanID().String(); !strings.Contains(header.Get("traceparent"), want) {
		t.Errorf("the platform is told %v, want %s in it", header, want)
	}
	for key, want := range map[string]string{
		"gen_ai.conversation.id": "thread", "codex.turn.id": "turn", "codex.attempt": "1", "codex.outcome": "completed",
		"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": "7", "gen_ai.usage.output_tokens": "2",
	} {
		if got := value(turn, key); got != want {
			t.Errorf("the turn's %s is %q, want %q", key, got, want)
		}
	}
	if len(turn.Events) != 1 || turn.Events[0].Name != "first text" {
		t.Errorf("the turn's events: %+v", turn.Events)
	}
	if command.Status.Code != codes.Error || value(command, "process.exit.code") != "3" || call.Status.Code != codes.Error {
		t.Errorf("what failed: %+v, %+v", command.Status, call.Status)
	}
	if len(made.jobs) != 0 {
		t.Errorf("%d jobs are still traced", len(made.jobs))
	}
}

type toolFunc func(context.Context)

func (f toolFunc) Call(ctx context.Context, _ agent.ToolCall) agent.ToolResult {
	f(ctx)
	return agent.ToolResult{}
}

// TestWays: whatever becomes of a job, each of its spans ends once and nothing stays.
func TestWays(t *testing.T) {
	failed := agent.Ended{Outcome: agent.Failed, Failure: &agent.Failure{Kind: agent.FailModel, Code: "serverOverloaded"}}
	tests := []struct {
		name string
		tell func(made *Tracing, j executor.Job, tell executor.Observer)
		want string // the names, in the order of their ends
	}{
		{"canceled in the queue", func(_ *Tracing, _ executor.Job, tell executor.Observer) {
			tell(agent.Ended{Outcome: agent.Canceled})
		}, "queue answer"},
		{"cut off and run again", func(made *Tracing, j executor.Job, tell executor.Observer) {
			made.Attempt(j, 1)
			tell(agent.Started{Attempt: 1})
			tell(agent.ItemStarted{Item: agent.Item{ID: "x", Kind: agent.KindWebSearch}})
			made.Attempt(j, 2)
			tell(agent.Started{Attempt: 2})
			tell(failed)
		}, "queue tool web_search turn turn answer"},
		{"held in the turn", func(made *Tracing, j executor.Job, tell executor.Observer) {
			made.Attempt(j, 1)
			tell(agent.Started{Attempt: 1})
			tell(agent.Paused{Kind: agent.FailLimit})
			tell(agent.Paused{Kind: agent.FailLimit})
			tell(agent.Resumed{})
			made.Attempt(j, 2)
			tell(agent.Started{Attempt: 2})
			tell(agent.Ended{Outcome: agent.Completed})
		}, "queue turn queue turn answer"},
		{"delivered after a restart", func(_ *Tracing, _ executor.Job, tell executor.Observer) {
			tell(agent.Started{Attempt: 1})
			tell(agent.Ended{Outcome: agent.Completed})
		}, "queue turn answer"},
		{"steered", func(_ *Tracing, _ executor.Job, tell executor.Observer) {
			tell(agent.Steered{TurnID: "turn"})
			tell(agent.Ended{Outcome: agent.Completed})
		}, "queue answer"},
		{"not steered after all", func(made *Tracing, j executor.Job, tell executor.Observer) {
			tell(agent.Steered{TurnID: "turn"})
			tell(agent.Unsteered{})
			made.Attempt(j, 1)
			tell(agent.Started{Attempt: 1})
			tell(agent.Question{Kind: "command"})
			tell(agent.Answered{})
			tell(agent.Ended{Outcome: agent.Interrupted})
		}, "queue queue turn answer"},
		{"a turn that could not be started", func(made *Tracing, j executor.Job, tell executor.Observer) {
			made.Attempt(j, 1)
			made.Attempt(j, 2)
			tell(failed)
		}, "queue turn turn answer"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			made, memory := traced(t)
			job := executor.Job{ID: "j.1"}
			test.tell(made, job, submit(made, job))
			all := spans(t, made, memory)
			if got := strings.Join(names(all), " "); got != test.want {
				t.Errorf("spans %q, want %q", got, test.want)
			}
			sameTrace(t, all)
			if len(made.jobs) != 0 {
				t.Errorf("%d jobs are still traced", len(made.jobs))
			}
		})
	}
}

func sameTrace(t *testing.T, all tracetest.SpanStubs) {
	t.Helper()
	for _, s := range all {
		if s.SpanContext.TraceID() != all[0].SpanContext.TraceID() {
			t.Errorf("%s is in a trace of its own", s.Name)
		}
	}
}

// TestRefused: what the executor does not take ends at once; what it does not take into a
// turn is submitted under the same name.
func TestRefused(t *testing.T) {
	made, memory := traced(t)
	job := executor.Job{ID: "j"}
	_, refused := made.Watch(job, "other", nil)
	refused(executor.ErrNotRunning)
	submit(made, job)(agent.Ended{Outcome: agent.Completed})
	if got := strings.Join(names(spans(t, made, memory)), " "); got != "steer queue answer" || len(made.jobs) != 0 {
		t.Errorf("%s, and %d jobs are traced", got, len(made.jobs))
	}
}
