package tracing

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// TestCutNames: a name that is cut in the middle of a letter does not cost the batch, and
// what others make up is short.
func TestCutNames(t *testing.T) {
	arrived := 0
	collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { arrived++ }))
	defer collector.Close()
	var text bytes.Buffer
	made, err := Open(t.Context(), Config{Endpoint: collector.URL + "/v1/traces", Logger: slog.New(slog.NewTextHandler(&text, nil))})
	if err != nil {
		t.Fatal(err)
	}
	_, span := made.begin(t.Context(), "SendMessage", &a2a.Message{ID: strings.Repeat("m", 127) + "é"})
	span.End()
	if err := made.provider.ForceFlush(t.Context()); err != nil {
		t.Error(err)
	}
	if err := made.Close(); err != nil || arrived != 1 || text.Len() > 0 {
		t.Errorf("%d batches arrived, %v: %s", arrived, err, text.String())
	}

	kept, memory := traced(t)
	job := executor.Job{ID: "j"}
	tell := submit(kept, job)
	kept.Attempt(job, 1)
	tell(agent.ItemStarted{Item: agent.Item{
		ID: strings.Repeat("i", 1<<16), Kind: agent.KindMCP, Tool: strings.Repeat("é", 1<<16), Server: strings.Repeat("s", 1<<16),
	}})
	tell(agent.Ended{Outcome: agent.Completed})
	for _, s := range spans(t, kept, memory) {
		for _, attr := range s.Attributes {
			if n := len(attr.Value.String()); n > 200 {
				t.Errorf("%.20s: %s has %d bytes", s.Name, attr.Key, n)
			}
		}
		if len(s.Name) > 200 {
			t.Errorf("%.20s: the name has %d bytes", s.Name, len(s.Name))
		}
	}
}
