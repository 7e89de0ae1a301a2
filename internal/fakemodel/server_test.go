package fakemodel_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
)

// body makes a request of codex: items are its input, user texts as strings.
func body(tb testing.TB, input ...any) []byte {
	tb.Helper()
	items := make([]any, len(input))
	for i, it := range input {
		items[i] = it
		if text, ok := it.(string); ok {
			items[i] = message("user", text)
		}
	}
	data, err := json.Marshal(map[string]any{"model": "m", "stream": true, "input": items})
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func message(role string, texts ...string) map[string]any {
	parts := make([]any, len(texts))
	for i, text := range texts {
		parts[i] = map[string]any{"type": "input_text", "text": text}
	}
	return map[string]any{"type": "message", "role": role, "content": parts}
}

func output(callID, text string) map[string]any {
	return map[string]any{"type": "function_call_output", "call_id": callID, "output": text}
}

// ask sends a request and returns the types of the events, the finished items
// and the text of the deltas.
func ask(tb testing.TB, model *modeltest.Model, request []byte) (kinds []string, items []map[string]any, text string) {
	tb.Helper()
	resp, err := http.Post(model.BaseURL()+"/responses", "application/json", bytes.NewReader(request))
	if err != nil {
		tb.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		tb.Fatalf("answered %s, %s", resp.Status, got)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var event struct {
			Type, Delta string
			Item        map[string]any
		}
		if err := json.Unmarshal([]byte(data), &event); err != nil {
			tb.Fatalf("%v in %s", err, data)
		}
		kinds = append(kinds, event.Type)
		text += event.Delta
		if event.Type == "response.output_item.done" {
			items = append(items, event.Item)
		}
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return kinds, items, text
}

func TestEventsOfAMessage(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, func(t *fakemodel.Turn) {
		t.Delta("a \"quoted\"\n")
		t.Delta("b")
		t.EndMessage("commentary")
	})
	kinds, items, text := ask(t, model, body(t, "hello"))
	want := []string{
		"response.created", "response.output_item.added", "response.output_text.delta",
		"response.output_text.delta", "response.output_item.done", "response.completed",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if text != "a \"quoted\"\nb" || items[0]["phase"] != "commentary" {
		t.Errorf("text %q, item %v", text, items[0])
	}
}

func TestRequestIsTakenApart(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Echo)
	request := []byte(`{"model":"m","instructions":"be kind",
		"tools":[{"type":"function","name":"exec_command"},{"type":"web_search"},
			{"type":"namespace","name":"agents","tools":[{"type":"function","name":"spawn"}]}],
		"input":[
			{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"functions","tools":[
				{"type":"custom","name":"exec","description":"Runs.\n\n### ` + "`apply_patch`" + `\nPatch.\n\n### ` + "`view_image`" + `\nView."}]}]},
			{"type":"message","role":"developer","content":[{"type":"input_text","text":"rules"}]},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n</environment_context>"}]},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"one"},{"type":"input_image","image_url":"data:"},{"type":"input_text","text":"two"}]},
			{"type":"function_call","call_id":"c1","name":"exec_command","arguments":"{}"},
			{"type":"function_call_output","call_id":"c1","output":"old"},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]},
			{"type":"message","role":"user","content":[{"type":"input_text","text":"three"}]},
			{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"new"}]}]}`)
	if _, _, text := ask(t, model, request); text != "echo: three" {
		t.Errorf("answered %q", text)
	}
	r := model.Requests()[0]
	got := map[string]any{
		"model": r.Model, "instructions": r.Instructions, "tools": r.Tools, "users": r.UserTexts(),
		"developers": r.DeveloperTexts(), "outputs": r.ToolOutputs(), "new": r.NewToolOutputs(),
		"outcome": string(r.Outcome),
	}
	want := map[string]any{
		"model": "m", "instructions": "be kind",
		"tools": []string{"exec_command", "web_search", "agents.spawn", "exec", "exec:apply_patch", "exec:view_image"},
		"users": []string{"one\ntwo", "three"}, "developers": []string{"rules"},
		"outputs": map[string]string{"c1": "old", "c2": "new"},
		"new":     []fakemodel.ToolOutput{{CallID: "c2", Text: "new"}},
		"outcome": "completed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if !r.Offers("apply_patch") || !r.Offers("exec_command") || r.Offers("update_plan") {
		t.Errorf("Offers is wrong about %v", r.Tools)
	}
}

// TestRunPolls proves that a command that still runs is polled, with no state
// but the request, and that its pieces are answered as one.
func TestRunPolls(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	const user = "run sleep 60\nsay after"
	_, items, _ := ask(t, model, body(t, user))
	if len(items) != 1 || items[0]["name"] != "exec_command" || items[0]["arguments"] != `{"cmd":"sleep 60","yield_time_ms":30000}` {
		t.Fatalf("first answered %v", items)
	}
	running := output("c1", "Wall time: 30 seconds\nProcess running with session ID 7\nOutput:\nhalf ")
	_, items, _ = ask(t, model, body(t, user, running))
	if len(items) != 1 || items[0]["name"] != "write_stdin" || !strings.Contains(items[0]["arguments"].(string), `"session_id":7`) {
		t.Fatalf("then answered %v", items)
	}
	ended := output("c2", "Wall time: 30 seconds\nProcess exited with code 0\nOutput:\ndone\n")
	_, items, text := ask(t, model, body(t, user, running, ended))
	if len(items) != 2 || text != "half doneafter" {
		t.Errorf("at last answered %q in %d items", text, len(items))
	}
}

func TestWhatIsNoCommand(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Keywords)
	for _, text := range []string{
		"plan the work", "stream", "stream a b", "stream 1 2 3", "fail", "fail 200", "fail me",
		"run", "output much", "wait long", "hang on", "call x {", "", "patch two words",
	} {
		if _, _, got := ask(t, model, body(t, text)); got != "echo: "+text {
			t.Errorf("%q is answered %q", text, got)
		}
	}
}

func TestFailAnswersBeforeTheStream(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, func(t *fakemodel.Turn) {
		t.FailWith(http.StatusServiceUnavailable, http.Header{"Retry-After": {"3"}}, `{"error":{}}`)
		t.Say("nobody hears this")
	})
	resp, err := http.Post(model.BaseURL()+"/responses", "application/json", bytes.NewReader(body(t, "x")))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") != "3" || string(data) != `{"error":{}}` {
		t.Errorf("answered %s %v %s", resp.Status, resp.Header, data)
	}
	if got := model.Requests()[0].Outcome; got != fakemodel.Failed {
		t.Errorf("recorded as %q", got)
	}
}

func TestOtherRoutes(t *testing.T) {
	t.Parallel()
	model := modeltest.Start(t, fakemodel.Echo)
	for _, test := range []struct {
		name, method, path, encoding, body string
		want                               int
	}{
		{"models", "GET", "/v1/models", "", "", 200},
		{"websocket", "GET", "/v1/responses", "", "", 426},
		{"unknown", "POST", "/v1/chat/completions", "", "{}", 404},
		{"malformed", "POST", "/v1/responses", "", "{", 400},
		{"compressed", "POST", "/v1/responses", "zstd", "x", 400},
	} {
		t.Run(test.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), test.method, model.URL()+test.path, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			if test.encoding != "" {
				req.Header.Set("Content-Encoding", test.encoding)
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != test.want {
				t.Errorf("answered %s, want %d", resp.Status, test.want)
			}
		})
	}
}

// TestCloseEndsWhatHangs closes a listening model under an open request.
func TestCloseEndsWhatHangs(t *testing.T) {
	t.Parallel()
	hanging := make(chan struct{})
	running, err := fakemodel.Listen(func(t *fakemodel.Turn) {
		close(hanging)
		t.Hang()
	})
	if err != nil {
		t.Fatal(err)
	}
	broken := make(chan error, 1)
	go func() {
		resp, err := http.Post(running.BaseURL()+"/responses", "application/json", bytes.NewReader(body(t, "x")))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		broken <- err
	}()
	<-hanging
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := running.Close(ctx); err != nil {
		t.Error(err)
	}
	if err := <-broken; err == nil {
		t.Error("the answer looks complete")
	}
}

// BenchmarkDeltas measures how fast the model streams, to a reader that only
// counts; deltas/s must stay above 100,000.
func BenchmarkDeltas(b *testing.B) {
	model := modeltest.Start(b, fakemodel.Keywords)
	const count = 60000
	request := body(b, "stream 60000 8")
	for b.Loop() {
		resp, err := http.Post(model.BaseURL()+"/responses", "application/json", bytes.NewReader(request))
		if err != nil {
			b.Fatal(err)
		}
		data, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			b.Fatal(err)
		}
		if got := bytes.Count(data, []byte("data: {\"type\":\"response.output_text.delta\"")); got != count {
			b.Fatalf("%d deltas, want %d", got, count)
		}
	}
	b.ReportMetric(float64(count)*float64(b.N)/b.Elapsed().Seconds(), "deltas/s")
}
