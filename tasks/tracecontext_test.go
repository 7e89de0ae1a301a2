package tasks_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// TestTraceContext: a job is part of what its message says, if that can be a trace context.
func TestTraceContext(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	long := strings.Repeat("x", 600)
	for _, test := range []struct {
		name string
		meta map[string]any
		want agent.TraceContext
	}{
		{"none", nil, agent.TraceContext{}},
		{"both", map[string]any{keys.Traceparent: parent, keys.Tracestate: "v=1"}, agent.TraceContext{Parent: parent, State: "v=1"}},
		{"a state of nothing", map[string]any{keys.Tracestate: "v=1"}, agent.TraceContext{}},
		{"no text", map[string]any{keys.Traceparent: 7.0}, agent.TraceContext{}},
		{"long", map[string]any{keys.Traceparent: long}, agent.TraceContext{}},
		{"a long state", map[string]any{keys.Traceparent: parent, keys.Tracestate: long}, agent.TraceContext{Parent: parent}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRunner()
			e := newEngine(t, r)
			req := request("m1", "c", "hi")
			req.Message.Metadata = test.meta
			begin(t, e, req)
			if got := r.next(t).Trace; got != test.want {
				t.Errorf("the job is part of %+v, want %+v", got, test.want)
			}
		})
	}
}

// TestLogNamesTheTrace: the line of a turn's end leads to its trace, and holds nothing that a
// caller has made up.
func TestLogNamesTheTrace(t *testing.T) {
	for parent, want := range map[string]bool{
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":    true,
		"00-0af7651916cd43dd8448eb211c80319c":                        true,
		"00-an invented line of a log, INVENTED-b7ad6b7169203331-01": false,
		"00-0af7": false,
	} {
		var log bytes.Buffer
		r := newRunner()
		e := newEngine(t, r, func(c *tasks.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		req := request("m1", "c", "hi")
		req.Message.Metadata = map[string]any{keys.Traceparent: parent}
		begin(t, e, req)
		r.next(t).start().end(agent.Ended{Outcome: agent.Completed}) // which has logged when it returns
		if got := strings.Contains(log.String(), "trace_id=0af7651916cd43dd8448eb211c80319c"); got != want || strings.Contains(log.String(), "invented") {
			t.Errorf("%s: %s", parent, log.String())
		}
	}
}

// TestOtherTraceIsTheSameMessage: who sends a message again is another part of a trace, or
// of another one.
func TestOtherTraceIsTheSameMessage(t *testing.T) {
	e := newEngine(t, newRunner())
	first, second := request("m1", "c", "hi"), request("m1", "c", "hi")
	second.Message.Metadata = map[string]any{keys.Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
	if a, b := begin(t, e, first), begin(t, e, second); a.ID != b.ID {
		t.Errorf("tasks %s and %s", a.ID, b.ID)
	}
}
