package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// A v0Requirement is a test of the 0.3.x suite, by its name there.
type v0Requirement struct {
	id   string
	test func(*testing.T, v0)
}

// TestV0 holds what the 0.3.x suite checks over JSON-RPC of what a task goes through, and
// of the card. What it asks for in single requests, TestSuiteBodies and package server test.
func TestV0(t *testing.T) {
	c := v0{url: start(t, options{card: cardUnion})}
	for _, r := range allV0() {
		t.Run(r.id, func(t *testing.T) { r.test(t, c) })
	}
}

func allV0() []v0Requirement {
	return []v0Requirement{
		{"test_mandatory_fields_present", v0Card},
		{"test_sensitive_information_protection", func(t *testing.T, _ v0) {
			// The suite looks for words in the card as one line of text, whatever they mean.
			c := v0{url: start(t, options{card: cardUnion, publicURL: "http://0.0.0.0:9999"})}
			_, _, body := do(t, http.MethodGet, c.url+"/.well-known/agent-card.json", "")
			words := regexp.MustCompile(`(?is)api[_-]?key|secret|token|password|credential|127\.0\.0\.1|192\.168\.|10\.|172\.(1[6-9]|2\d|3[01])\.|localhost|(internal|private|admin|debug|test).*(url|endpoint|host)`)
			if found := words.FindString(body); found != "" {
				t.Errorf("the card has %q", found)
			}
		}},
		{"test_message_send_continue_task", func(t *testing.T, c v0) {
			first := c.send(t)
			id, context := str(first, "id"), str(first, "contextId")
			for _, next := range []any{c.send(t, "taskId", id), c.send(t, "taskId", id, "contextId", context)} {
				if str(next, "id") != id || str(next, "contextId") != context {
					t.Errorf("task %v, then %v", first, next)
				}
			}
		}},
		{"test_task_history_length", func(t *testing.T, c v0) {
			id := str(c.send(t), "id")
			for i := range 3 {
				c.send(t, "taskId", id, "parts", []any{object{"kind": "text", "text": fmt.Sprint("Follow-up message ", i)}})
			}
			for params, want := range map[string]func(n int) bool{
				``: func(n int) bool { return n > 3 }, `,"historyLength":2`: func(n int) bool { return n == 2 },
				`,"historyLength":1,"includeArtifacts":true`: func(n int) bool { return n == 1 },
			} {
				r := c.raw(t, `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"`+id+`"`+params+`}}`)
				history, _ := at(r.result, "history").([]any)
				if str(r.result, "kind") != "task" || str(r.result, "id") != id || str(r.result, "status", "state") == "" || !want(len(history)) {
					t.Errorf("%s: %s", params, r.body)
				}
			}
		}},
		{"test_tasks_cancel_valid", func(t *testing.T, c v0) {
			id := str(c.send(t), "id")
			r := c.call(t, "tasks/cancel", object{"id": id})
			if str(r.result, "kind") != "task" || str(r.result, "id") != id || str(r.result, "status", "state") != "canceled" {
				t.Error(r.body)
			}
		}},
		{"test_message_stream_basic", func(t *testing.T, c v0) {
			events := c.stream(t, "message/stream", object{"message": v0Message()})
			if got, want := kinds(t, events), "task:submitted status-update:working status-update:input-required:final"; got != want {
				t.Fatalf("got %s, want %s", got, want)
			}
			for _, e := range events[1:] {
				if str(e.result, "taskId") != str(events[0].result, "id") || e.id != "req-1" {
					t.Errorf("event %s", e.body)
				}
			}
		}},
		{"test_sse_event_format_compliance", func(t *testing.T, c v0) {
			events := c.stream(t, "message/stream", object{"message": v0Message("messageId", "tck-stream-001")})
			want := "task:submitted status-update:working artifact-update status-update:completed:final"
			if got := kinds(t, events); got != want || str(events[2].result, "artifact", "parts", 0, "kind") != "text" {
				t.Errorf("got %s, want %s", got, want)
			}
		}},
		{"test_tasks_resubscribe", func(t *testing.T, c v0) {
			r := c.call(t, "message/send", object{"message": v0Message("messageId", "test-resubscribe-message-id-1"), "configuration": object{"blocking": false}})
			events := c.stream(t, "tasks/resubscribe", object{"id": str(r.result, "id")})
			if len(events) < 2 || str(events[0].result, "kind") != "task" || at(events[len(events)-1].result, "final") != true {
				t.Errorf("got %s", kinds(t, events))
			}
		}},
	}
}

// v0Card looks at all that 0.3 wants of a card.
func v0Card(t *testing.T, c v0) {
	got := card(t, c.url)
	for _, name := range []string{"name", "description", "version", "url", "protocolVersion", "preferredTransport"} {
		if strings.TrimSpace(str(got, name)) == "" {
			t.Errorf("%s is %v", name, at(got, name))
		}
	}
	for _, name := range []string{"defaultInputModes", "defaultOutputModes", "skills"} {
		if list, _ := at(got, name).([]any); len(list) == 0 {
			t.Errorf("%s is %v", name, at(got, name))
		}
	}
	if _, ok := at(got, "capabilities").(object); !ok || !strings.HasPrefix(str(got, "protocolVersion"), "0.3") {
		t.Errorf("card %v", got)
	}
	skills, _ := at(got, "skills").([]any)
	for _, s := range skills {
		if tags, _ := at(s, "tags").([]any); str(s, "id") == "" || str(s, "name") == "" || str(s, "description") == "" || len(tags) == 0 {
			t.Errorf("skill %v", s)
		}
	}
}
