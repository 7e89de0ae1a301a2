package e2e

import (
	"cmp"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/upgrades"
)

// attribute is one of a span, as text.
func attribute(s span, key string) string {
	i := slices.IndexFunc(s.Attributes, func(kv *commonpb.KeyValue) bool { return kv.Key == key })
	if i < 0 {
		return ""
	}
	value := s.Attributes[i].Value
	return cmp.Or(value.GetStringValue(), fmt.Sprint(value.GetIntValue()))
}

// TestModelCallsAreSeen, whichever way the model is asked: as spans, as metrics, in the task, and by a person who
// watches it.
func TestModelCallsAreSeen(t *testing.T) {
	t.Parallel()
	for transport, other := range map[string]string{"websocket": "http", "http": "websocket"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			c, model := startCollector(t), modeltest.Start(t, fakemodel.Keywords)
			f := newFront(t, model)
			if transport == "http" {
				f.takes(upgrades.Status(404))
			}
			p := startOn(t, binary, model, "OPENAI_BASE_URL="+f.URL+"/v1", "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_BSP_SCHEDULE_DELAY=50")
			task := p.sendTraced("00-"+callersTrace+"-"+callersSpan+"-01", "m1", "c1", "run true")
			if at(task, "metadata", "modelCalls", "count") != 2.0 || at(task, "metadata", "modelCalls", "transport") != transport {
				t.Errorf("the task says %v", at(task, "metadata", "modelCalls"))
			}

			turn := c.one(t, callersTrace, "turn")
			calls := slices.DeleteFunc(c.of(callersTrace), func(s span) bool { return !strings.HasPrefix(s.Name, "chat ") })
			if len(calls) != 2 {
				t.Errorf("%d calls among the spans", len(calls))
			}
			for _, s := range calls {
				if attribute(s, "model.transport") != transport || attribute(s, "gen_ai.usage.output_tokens") != "5" || attribute(s, "http.response.status_code") != "200" {
					t.Errorf("%s: %v", s.Name, s.Attributes)
				}
				if s.parent() != turn.id() || s.Kind != tracepb.Span_SPAN_KIND_CLIENT || s.StartTimeUnixNano < turn.StartTimeUnixNano || s.EndTimeUnixNano > turn.EndTimeUnixNano {
					t.Errorf("a call of %s from %d to %d is below %s", s.Kind, s.StartTimeUnixNano, s.EndTimeUnixNano, s.parent())
				}
			}

			got := p.scrape()
			for series, want := range map[string]float64{
				`molecule_codex_model_calls_total{outcome="ok",transport="` + transport + `"}`:  2,
				`molecule_codex_model_first_byte_seconds_count{transport="` + transport + `"}`:  2,
				`molecule_codex_model_connect_seconds_count{transport="` + transport + `"}`:     1,
				`molecule_codex_model_first_byte_seconds_count{transport="` + other + `"}`:      0,
				`molecule_codex_model_calls_total{outcome="cut",transport="` + transport + `"}`: 0,
			} {
				if got[series] != want {
					t.Errorf("%s is %v, want %v", series, got[series], want)
				}
			}

			watch := exec.CommandContext(t.Context(), binary, "task", "watch", "--verbose", fmt.Sprint(task["id"]))
			watch.Env = append(progtest.Environ(t), "RUNTIME_URL="+p.URL)
			shown, err := watch.CombinedOutput()
			if want := regexp.MustCompile(`(?m)^model: 2 calls by ` + transport + `, first byte \d.*, \d+ tokens/s, \d+\.\d\d s in all$`); err != nil || !want.Match(shown) {
				t.Errorf("%v, shown:\n%s", err, shown)
			}
		})
	}
}
