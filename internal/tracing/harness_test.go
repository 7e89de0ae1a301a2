package tracing

import (
	"context"
	"log/slog"
	"slices"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// traced makes traces that stay in memory.
func traced(t *testing.T) (*Tracing, *tracetest.InMemoryExporter) {
	t.Helper()
	memory := tracetest.NewInMemoryExporter()
	made, err := Open(t.Context(), Config{Version: "1", Exporter: memory, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = made.Close() })
	return made, memory
}

// spans are those that have ended, by name in the order of their ends.
func spans(t *testing.T, made *Tracing, memory *tracetest.InMemoryExporter) tracetest.SpanStubs {
	t.Helper()
	if err := made.provider.ForceFlush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return memory.GetSpans()
}

// one returns the only span of that name.
func one(t *testing.T, all tracetest.SpanStubs, name string) tracetest.SpanStub {
	t.Helper()
	var found []tracetest.SpanStub
	for _, s := range all {
		if s.Name == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans are called %q among %v", len(found), name, names(all))
	}
	return found[0]
}

func names(all tracetest.SpanStubs) (out []string) {
	for _, s := range all {
		out = append(out, s.Name)
	}
	return out
}

// value is an attribute of a span.
func value(s tracetest.SpanStub, key string) string {
	i := slices.IndexFunc(s.Attributes, func(kv attribute.KeyValue) bool { return string(kv.Key) == key })
	if i < 0 {
		return ""
	}
	return s.Attributes[i].Value.String()
}

// submit has a job watched that gets a turn of its own, and returns what tells of it.
func submit(made *Tracing, j executor.Job) executor.Observer {
	tell, _ := made.Watch(j, "", func(agent.Event) {})
	return tell
}

// failing is an exporter that is down.
type failing struct {
	calls int
	err   error
}

func (f *failing) ExportSpans(context.Context, []sdk.ReadOnlySpan) error {
	f.calls++
	return f.err
}

func (f *failing) Shutdown(context.Context) error { return nil }
