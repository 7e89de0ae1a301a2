package codex_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// TestCodexTakesTheTrace: a codex that exports traces makes its own below what it was told
// of with turn/start, and says so to the model, turn by turn. What is no trace does no harm.
func TestCodexTakesTheTrace(t *testing.T) {
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer collector.Close()
	model := modeltest.Start(t, fakemodel.Keywords)
	e := onCodex(t, model, func(c *config) {
		c.Child.Args = append(c.Child.Args, "-c", `otel.trace_exporter={otlp-http={endpoint="`+collector.URL+`/v1/traces",protocol="binary"}}`)
	})
	const first, second = "0af7651916cd43dd8448eb211c80319c", "11112222333344445555666677778888"
	told := []struct {
		trace agent.TraceContext
		want  string
	}{
		{agent.TraceContext{Parent: "00-" + first + "-b7ad6b7169203331-01", State: "vendor=1"}, first},
		{agent.TraceContext{}, ""},
		{agent.TraceContext{Parent: "00-" + second + "-b7ad6b7169203331-01"}, second},
		{agent.TraceContext{Parent: "\"no\ntrace"}, ""},
	}
	for i, told := range told {
		w := &witness{ended: make(chan agent.Ended, 1)}
		job := executor.Job{ID: "j" + string(rune('a'+i)), Context: "one", Input: []agent.Input{agent.Text("say it")}, Trace: told.trace}
		if _, err := e.Submit(job, w.observe); err != nil {
			t.Fatal(err)
		}
		if end := w.wait(t); end.Outcome != agent.Completed {
			t.Fatalf("%+v", end)
		}
		requests := model.Requests()
		got := requests[len(requests)-1].Headers.Get("Traceparent")
		switch _, rest, _ := strings.Cut(got, "-"); {
		case told.want != "" && !strings.HasPrefix(rest, told.want):
			t.Errorf("%+v: the model is told %q", told.trace, got)
		case told.want == "" && (strings.Contains(got, first) || strings.Contains(got, second)):
			t.Errorf("%+v: the model is told of an earlier turn's, %q", told.trace, got)
		}
		if state := requests[len(requests)-1].Headers.Get("Tracestate"); state != told.trace.State {
			t.Errorf("%+v: the state is %q", told.trace, state)
		}
	}
}
