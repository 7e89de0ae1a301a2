package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the outcomes into testdata/suite-*.jsonl")

// A request is one that a test of the suite made in a run in which none failed, and
// what became of it. Ids that the server made are places in the text: {task} and {context}
// of the task that was made last, {config} of the push setting; {receiver} is who is told.
type request struct {
	Test    string `json:"test"`
	Push    bool   `json:"push,omitempty"` // made with --push
	Method  string `json:"method"`
	Path    string `json:"path"`
	Version string `json:"version,omitempty"` // the header A2A-Version
	Type    string `json:"type,omitempty"`    // the header Content-Type, if it is not JSON
	Body    string `json:"body,omitempty"`
	Want    string `json:"want"`
}

// TestSuiteBodies makes each request of the suite as it was made, byte for byte. How they
// were recorded stands in docs/conformance.md.
func TestSuiteBodies(t *testing.T) {
	for version, card := range map[string]string{"1.0": cardV1, "0.3": cardUnion} {
		file := filepath.Join("testdata", "suite-"+version+".jsonl")
		requests := readRequests(t, file)
		urls := map[bool]string{false: start(t, options{card: card}), true: start(t, options{card: card, push: true})}
		for begin, end := 0, 0; begin < len(requests); begin = end {
			first := requests[begin]
			for end = begin; end < len(requests) && requests[end].Test == first.Test && requests[end].Push == first.Push; end++ {
			}
			t.Run(version+"/"+first.Test, func(t *testing.T) { newReplay(t, urls[first.Push]).run(t, requests[begin:end]) })
		}
		if *update {
			writeRequests(t, file, requests)
		}
	}
}

// A replay makes the requests of one test.
type replay struct {
	url  string
	made map[string]string // what stands in the places
}

func newReplay(t *testing.T, url string) *replay {
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	return &replay{url, map[string]string{"{receiver}": strings.Replace(receiver.URL, "127.0.0.1", "localhost", 1)}}
}

func (p *replay) run(t *testing.T, requests []request) {
	for i := range requests {
		r := &requests[i]
		got := p.ask(t, r)
		if *update {
			r.Want = got
		}
		if got != r.Want {
			t.Errorf("%s %s %s: %s, want %s", r.Method, r.Path, r.Body, got, r.Want)
		}
	}
}

// ask makes a request and says in a few words what became of it. Of a stream that is its
// first event; it stays open to the end of the test.
func (p *replay) ask(t *testing.T, r *request) string {
	t.Helper()
	fill := func(text string) string {
		for place, id := range p.made {
			text = strings.ReplaceAll(text, place, id)
		}
		return text
	}
	req, err := http.NewRequestWithContext(t.Context(), r.Method, p.url+fill(r.Path), strings.NewReader(fill(r.Body)))
	if err != nil {
		t.Fatal(err)
	}
	if r.Version != "" {
		req.Header.Set("A2A-Version", r.Version)
	}
	if r.Body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if r.Type != "" {
		req.Header.Set("Content-Type", r.Type)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	var v any
	if err := json.Unmarshal(readFirst(t, res), &v); err != nil {
		t.Fatalf("%d %v", res.StatusCode, err)
	}
	p.learn(v)
	said := outcome(v)
	if res.Header.Get("Content-Type") == "text/event-stream" {
		said = "stream of " + said
	}
	if res.StatusCode != http.StatusOK {
		said = fmt.Sprint(res.StatusCode, " ", said)
	}
	return said
}

// readFirst returns the JSON of an answer, or of the first event of one.
func readFirst(t *testing.T, res *http.Response) []byte {
	t.Helper()
	if res.Header.Get("Content-Type") != "text/event-stream" {
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			return data
		}
	}
	t.Fatalf("a stream without an event: %v", lines.Err())
	return nil
}

// learn keeps the ids that later requests name.
func (p *replay) learn(answer any) {
	for _, v := range []any{at(answer, "result", "task"), at(answer, "result"), at(answer, "task"), answer} {
		switch {
		case str(v, "id") != "" && at(v, "status") != nil:
			p.made["{task}"], p.made["{context}"] = str(v, "id"), str(v, "contextId")
			return
		case str(v, "pushNotificationConfig", "id") != "":
			p.made["{config}"] = str(v, "pushNotificationConfig", "id")
			return
		case str(v, "id") != "" && str(v, "url") != "":
			p.made["{config}"] = str(v, "id")
			return
		}
	}
}

// outcome says what an answer is, of either version and binding.
func outcome(answer any) string {
	members, _ := answer.(object)
	if failure := members["error"]; failure != nil {
		said := fmt.Sprint("error ", at(failure, "code"))
		for _, list := range []string{"data", "details"} {
			if reason := str(failure, list, -1, "reason"); reason != "" {
				said += " " + reason
			}
		}
		return said
	}
	v := answer
	if result, ok := members["result"]; ok {
		v = result
	}
	for _, name := range []string{"task", "message"} {
		if inner := at(v, name); inner != nil && at(v, "kind") == nil {
			v = inner
		}
	}
	switch state := short(strings.ToUpper(strings.ReplaceAll(str(v, "status", "state"), "-", "_"))); {
	case state == "SUBMITTED" || state == "WORKING":
		return "task under way"
	case state != "":
		return "task " + state
	case at(v, "parts") != nil:
		return "message"
	}
	switch v := v.(type) {
	case nil:
		return "null"
	case object:
		return "object of " + strings.Join(slices.Sorted(maps.Keys(v)), ", ")
	case []any:
		return fmt.Sprintf("list of %d", len(v))
	}
	return fmt.Sprint(v)
}

func readRequests(t *testing.T, file string) (out []request) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, r)
	}
	return out
}

func writeRequests(t *testing.T, file string, requests []request) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, r := range requests {
		if err := enc.Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
