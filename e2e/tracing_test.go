package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// A collector takes traces by OTLP over HTTP.
type collector struct {
	*httptest.Server

	mu      sync.Mutex // guards the fields below
	spans   []span
	headers []http.Header
}

// A span is one that has arrived, with the service that has made it.
type span struct {
	*tracepb.Span
	service string
}

func (s span) id() string     { return fmt.Sprintf("%x", s.SpanId) }
func (s span) parent() string { return fmt.Sprintf("%x", s.ParentSpanId) }
func (s span) trace() string  { return fmt.Sprintf("%x", s.TraceId) }

func startCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = unpacked
		}
		text, _ := io.ReadAll(body)
		var data tracepb.TracesData // which reads as the request of an export does
		if err := proto.Unmarshal(text, &data); err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		c.take(r.Header, &data)
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) take(header http.Header, data *tracepb.TracesData) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers = append(c.headers, header)
	for _, resource := range data.ResourceSpans {
		service := ""
		for _, kv := range resource.GetResource().GetAttributes() {
			if kv.Key == "service.name" {
				service = kv.Value.GetStringValue()
			}
		}
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, span{s, service})
			}
		}
	}
}

// got reports whether a request had a header of that value.
func (c *collector) got(name, value string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.ContainsFunc(c.headers, func(h http.Header) bool { return h.Get(name) == value })
}

// of are the spans of a trace that have arrived.
func (c *collector) of(trace string) (found []span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.trace() == trace {
			found = append(found, s)
		}
	}
	return found
}

// named are those of the runtime that are called so.
func named(all []span, name string) (found []span) {
	for _, s := range all {
		if s.Name == name && s.service == "molecule-codex-runtime" {
			found = append(found, s)
		}
	}
	return found
}

// one waits for the only span of a trace that is called so.
func (c *collector) one(t *testing.T, trace, name string) span {
	t.Helper()
	progtest.WaitFor(t, "the span "+name, func() bool { return len(named(c.of(trace), name)) > 0 })
	found := named(c.of(trace), name)
	if len(found) != 1 {
		t.Fatalf("%d spans are called %s", len(found), name)
	}
	return found[0]
}

// sendTraced is send with a header.
func (p *program) sendTraced(traceparent, id, contextID, text string) object {
	p.t.Helper()
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": object{"message": message(id, contextID, text)}})
	if err != nil {
		p.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.URL+"/", bytes.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Traceparent", traceparent)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer res.Body.Close()
	var answer object
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		p.t.Fatal(err)
	}
	return p.task(answer)
}

const callersTrace, callersSpan = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

// TestOneTrace: from the request of a caller who traces, through the turn and into codex, to
// a tool, to the platform, to the model and to the answer it is one trace.
func TestOneTrace(t *testing.T) {
	c := startCollector(t)
	home := codextest.Home(t)
	config := `[otel]
trace_exporter = { otlp-http = { endpoint = "` + c.URL + `/v1/traces", protocol = "binary" } }
`
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startStation(t, fakeplatform.AUG, "CODEX_HOME="+home, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_BSP_SCHEDULE_DELAY=50",
		"OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20collectors-key-1234")
	const prompt = `call recall_memory {"query":"a-word-of-the-prompt"}`
	task := s.sendTraced("00-"+callersTrace+"-"+callersSpan+"-01", "m1", "c", prompt)
	if state(task) != "TASK_STATE_COMPLETED" {
		t.Fatal(task)
	}
	request, turn := c.one(t, callersTrace, "SendMessage"), c.one(t, callersTrace, "turn")
	tool, call := c.one(t, callersTrace, "tool recall_memory"), c.one(t, callersTrace, "platform")
	for _, step := range []struct {
		of    span
		below string
	}{
		{request, callersSpan}, {c.one(t, callersTrace, "queue"), request.id()}, {turn, request.id()},
		{tool, turn.id()}, {call, tool.id()}, {c.one(t, callersTrace, "answer"), request.id()},
	} {
		if step.of.parent() != step.below {
			t.Errorf("%s is below %s, want %s", step.of.Name, step.of.parent(), step.below)
		}
	}
	progtest.WaitFor(t, "codex's spans below the turn", func() bool {
		return slices.ContainsFunc(c.of(callersTrace), func(s span) bool { return s.service != request.service && s.parent() == turn.id() })
	})
	for _, r := range s.Model.Requests() {
		if got := r.Headers.Get("Traceparent"); !strings.Contains(got, callersTrace) {
			t.Errorf("the model is told %q", got)
		}
	}
	if !slices.ContainsFunc(s.platform.Requests(), func(r fakeplatform.Request) bool {
		return strings.Contains(r.Header.Get("Traceparent"), callersTrace+"-"+call.id())
	}) {
		t.Error("the platform is not told of the trace")
	}
	c.quiet(t, "a-word-of-the-prompt", "collectors-key-1234")
	if !c.got("Authorization", "Bearer collectors-key-1234") {
		t.Error("the collector got no header")
	}
	if strings.Contains(s.Log(), "collectors-key") {
		t.Error("the log has the collector's key")
	}
}

// quiet holds that the runtime's spans have none of the words.
func (c *collector) quiet(t *testing.T, words ...string) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		for _, word := range words {
			if s.service == "molecule-codex-runtime" && strings.Contains(s.String(), word) {
				t.Errorf("%s has %q", s.Name, word)
			}
		}
	}
}

// TestTraceOverARestart: what runs after our end is in the trace of the message.
func TestTraceOverARestart(t *testing.T) {
	c := startCollector(t)
	p := start(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_BSP_SCHEDULE_DELAY=50")
	hangFirst(p)
	m := message("m1", "c", "say hello")
	m["metadata"] = object{"traceparent": "00-" + callersTrace + "-" + callersSpan + "-01"}
	task := p.task(p.call("SendMessage", object{"message": m, "configuration": object{"returnImmediately": true}}))
	p.modelAsked(1)
	p.again()
	if ended := p.ended(task["id"]); text(ended) != "hello" {
		t.Fatal(ended)
	}
	for _, name := range []string{"turn", "answer", "queue"} {
		var found []span
		progtest.WaitFor(t, "the span "+name+" of the second process", func() bool {
			found = slices.DeleteFunc(named(c.of(callersTrace), name), func(s span) bool { return s.StartTimeUnixNano < uint64(p.Born.UnixNano()) })
			return len(found) > 0
		})
		if len(found) != 1 {
			t.Errorf("%d spans are called %s", len(found), name)
		}
	}
	for _, request := range p.Model.Requests() { // codex does not trace, and hands on by a WebSocket what it was told
		if got := request.Headers.Get("Traceparent"); !strings.HasPrefix(got, "00-"+callersTrace) {
			t.Errorf("the model is told %q", got)
		}
	}
}

// TestTraceAtTheEnd: what was not handed over when we stop in order arrives. It has two
// seconds for that; where the machine takes them, two of three runs may miss them.
func TestTraceAtTheEnd(t *testing.T) {
	c := startCollector(t)
	for range 3 {
		p := start(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_BSP_SCHEDULE_DELAY=3600000") // at the end alone
		m := message("m1", "c", "say hello")
		m["metadata"] = object{"traceparent": "00-" + callersTrace + "-" + callersSpan + "-01"}
		p.task(p.call("SendMessage", object{"message": m}))
		p.Stop()
		whole := true
		for _, name := range []string{"turn", "answer", "queue"} {
			whole = whole && len(named(c.of(callersTrace), name)) > 0
		}
		if whole {
			return
		}
	}
	t.Errorf("of a turn arrived %d, of its answer %d, of its wait %d", len(named(c.of(callersTrace), "turn")),
		len(named(c.of(callersTrace), "answer")), len(named(c.of(callersTrace), "queue")))
}

// TestNoCollector: one that is not there costs nobody anything but a line of the log.
func TestNoCollector(t *testing.T) {
	p := start(t, "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_BSP_SCHEDULE_DELAY=50")
	p.Model.SetScript(fakemodel.Keywords)
	for i := range 3 {
		if task := p.send(fmt.Sprint("m", i), "c", "say hello"); state(task) != "TASK_STATE_COMPLETED" {
			t.Fatal(task)
		}
	}
	p.Stop()
	if n := strings.Count(p.Log(), "traces cannot be handed over"); n > 1 {
		t.Errorf("the log says it %d times", n)
	}
}
