package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A stream is one that has begun.
type stream struct {
	t      testing.TB
	res    *http.Response
	events *bufio.Scanner
	rpc    bool
}

// stream opens a stream, or returns the refusal in its place.
func (c client) stream(t testing.TB, op string, params object) (*stream, reply) {
	t.Helper()
	res := c.open(t, op, params)
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		defer res.Body.Close()
		return nil, c.read(t, res)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return &stream{t: t, res: res, events: bufio.NewScanner(res.Body), rpc: c.binding == jsonrpc}, reply{}
}

// mustStream opens a stream that must begin.
func (c client) mustStream(t testing.TB, op string, params object) *stream {
	t.Helper()
	s, refusal := c.stream(t, op, params)
	if s == nil {
		t.Fatalf("%s of %v was refused: %s", op, params, refusal.body)
	}
	return s
}

// next returns the next event, or nil at the end.
func (s *stream) next() any {
	s.t.Helper()
	for s.events.Scan() {
		data, ok := strings.CutPrefix(s.events.Text(), "data: ")
		if !ok {
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			s.t.Fatalf("%v in %q", err, data)
		}
		if s.rpc {
			return at(v, "result")
		}
		return v
	}
	return nil
}

func (s *stream) rest() []any {
	s.t.Helper()
	var all []any
	for e := s.next(); e != nil; e = s.next() {
		all = append(all, e)
	}
	return all
}

// show renders events in a line each.
func show(events []any) string {
	var lines []string
	for _, e := range events {
		switch {
		case at(e, "task") != nil:
			lines = append(lines, "task "+short(str(e, "task", "status", "state")))
		case at(e, "message") != nil:
			lines = append(lines, "message "+str(e, "message", "parts", 0, "text"))
		case at(e, "statusUpdate") != nil:
			lines = append(lines, "status "+short(str(e, "statusUpdate", "status", "state")))
		case at(e, "artifactUpdate") != nil:
			u := at(e, "artifactUpdate")
			lines = append(lines, fmt.Sprintf("artifact %v%v append=%v last=%v", at(u, "artifact", "parts", 0, "text"), at(u, "artifact", "parts", 0, "raw"),
				at(u, "append") == true, at(u, "lastChunk") == true))
		default:
			lines = append(lines, fmt.Sprint(e))
		}
	}
	return strings.Join(lines, "\n")
}

func short(state string) string { return strings.TrimPrefix(state, "TASK_STATE_") }
