package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
)

var binary string

func TestMain(m *testing.M) {
	os.Exit(progtest.Main(func(built string) int {
		binary = built
		return m.Run()
	}))
}

// turnsEach is how many turns of each kind a run has. They alternate, so that a
// machine that slows down slows both down.
const turnsEach = 300

// BenchmarkTurn reports, in milliseconds, the whole turn and the time to first
// text of the bare app-server, of a blocking 1.0 SendMessage and of a stream,
// and what is added: the difference of the medians.
func BenchmarkTurn(b *testing.B) {
	model := modeltest.Start(b, fakemodel.Keywords)
	credential := []string{"OPENAI_API_KEY=key-of-the-benchmark", "OPENAI_BASE_URL=" + model.BaseURL()}
	p := progtest.Start(b, binary, credential...)
	direct := newBare(b, adapter.Launch{
		Provider: adapter.Provider{Key: true, BaseURL: model.BaseURL()},
		Home:     codextest.Home(b), WorkDir: codextest.Dir(b, "work"), Lean: true,
		Environ: append(progtest.Environ(b), credential...),
	})
	client := &a2a{b: b, url: p.URL}

	var bareTurn, bareFirst, sent, streamed, first sample
	for range 10 { // warm both
		direct.turn("say warm")
		client.send("say warm")
	}
	for b.Loop() {
		for range turnsEach {
			f, whole := direct.turn("say hello")
			bareTurn.add(whole)
			bareFirst.add(f)
			sent.add(client.send("say hello"))
			f, whole = direct.turn("say hello")
			bareTurn.add(whole)
			bareFirst.add(f)
			f, whole = client.stream("say hello")
			streamed.add(whole)
			first.add(f)
		}
	}
	b.ReportMetric(0, "ns/op") // a run is not an operation
	bareTurn.report(b, "bare-turn")
	sent.report(b, "send")
	streamed.report(b, "stream")
	bareFirst.report(b, "bare-first-text")
	first.report(b, "first-text")
	b.ReportMetric(ms(sent.quantile(.5)-bareTurn.quantile(.5)), "added-send-p50-ms")
	b.ReportMetric(ms(sent.quantile(.99)-bareTurn.quantile(.99)), "added-send-p99-ms")
	b.ReportMetric(ms(first.quantile(.5)-bareFirst.quantile(.5)), "added-first-text-p50-ms")
}

// A sample collects durations.
type sample []time.Duration

func (s *sample) add(d time.Duration) { *s = append(*s, d) }

func (s sample) quantile(q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

func (s sample) report(b *testing.B, name string) {
	b.ReportMetric(ms(s.quantile(.5)), name+"-p50-ms")
	b.ReportMetric(ms(s.quantile(.99)), name+"-p99-ms")
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// a2a is a client that does as little as will do.
type a2a struct {
	b    *testing.B
	url  string
	sent int
}

func (c *a2a) post(method, text string) io.ReadCloser {
	c.sent++
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": c.sent, "method": method,
		"params": map[string]any{"message": map[string]any{
			"messageId": fmt.Sprintf("m%d", c.sent), "role": "ROLE_USER", "contextId": "bench",
			"parts": []any{map[string]any{"text": text}},
		}},
	})
	if err != nil {
		c.b.Fatal(err)
	}
	res, err := http.Post(c.url+"/", "application/json", bytes.NewReader(body))
	if err != nil {
		c.b.Fatal(err)
	}
	return res.Body
}

func (c *a2a) send(text string) time.Duration {
	began := time.Now()
	body := c.post("SendMessage", text)
	defer body.Close()
	answer, err := io.ReadAll(body)
	took := time.Since(began)
	if err != nil || !bytes.Contains(answer, []byte("TASK_STATE_COMPLETED")) {
		c.b.Fatalf("SendMessage: %v %s", err, answer)
	}
	return took
}

// stream returns the time to the first text and to the end of a stream.
func (c *a2a) stream(text string) (first, whole time.Duration) {
	began := time.Now()
	body := c.post("SendStreamingMessage", text)
	defer body.Close()
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadString('\n')
		switch {
		case err != nil:
			c.b.Fatalf("the stream ended early: %v", err)
		case first == 0 && strings.Contains(line, "artifactUpdate"):
			first = time.Since(began)
		case strings.Contains(line, "TASK_STATE_COMPLETED"):
			whole = time.Since(began)
			_, _ = io.Copy(io.Discard, lines)
			return first, whole
		}
	}
}
