package main

import (
	"strings"
	"testing"
)

func v0Capabilities() []v0Requirement {
	uri := object{"kind": "file", "file": object{"name": "test.txt", "mimeType": "text/plain", "uri": "https://example.com/test.txt"}}
	older := object{"kind": "file", "file": object{"name": "test.txt", "mimeType": "text/plain", "url": "https://example.com/test.txt", "sizeInBytes": 1024}}
	data := object{"kind": "data", "data": object{"key": "value", "number": 123, "nested": object{"array": []int{1, 2, 3}}}}
	text := object{"kind": "text", "text": "Please look at this"}
	sends := func(messages ...[]any) func(*testing.T, v0) {
		return func(t *testing.T, c v0) {
			for _, parts := range messages {
				c.send(t, "parts", parts)
			}
		}
	}
	return []v0Requirement{
		{"test_message_send_valid_file_part", sends([]any{uri}, []any{older})},
		{"test_message_send_valid_multiple_parts", sends([]any{text, uri})},
		{"test_file_reference_handling", sends([]any{text, uri})},
		{"test_message_send_valid_data_part", sends([]any{data})},
		{"test_message_send_enhanced_parts_support", sends([]any{text, data})},
		{"test_binary_data_handling", sends([]any{text, object{"kind": "data", "data": object{"mimeType": "application/octet-stream", "data": "VGhpcw=="}}})},
		{"test_message_send_data_part_array", func(t *testing.T, c v0) { // see docs/conformance.md
			m := v0Message("parts", []any{object{"kind": "data", "data": []int{1, 2}}})
			c.call(t, "message/send", object{"message": m}).refused(t, -32602)
		}},
		{"test_message_send_continue_with_contextid", func(t *testing.T, c v0) {
			first := c.send(t)
			next := c.send(t, "taskId", str(first, "id"), "contextId", str(first, "contextId"))
			if str(next, "id") != str(first, "id") || str(next, "contextId") != str(first, "contextId") {
				t.Errorf("task %v, then %v", first, next)
			}
		}},
		{"test_method_parameter_validation_enhancements", func(t *testing.T, c v0) {
			for _, method := range []string{"message/send", "tasks/get", "tasks/cancel"} {
				c.call(t, method, object{"invalid": "structure"}).refused(t, -32602)
			}
		}},
		{"test_json_rpc_batch_requests", func(t *testing.T, c v0) {
			c.raw(t, "["+v0Body(t, "message/send", object{"message": v0Message()})+"]").refused(t, -32600)
		}},
		{"test_json_rpc_notification_requests", func(t *testing.T, c v0) {
			c.raw(t, `{"jsonrpc":"2.0","method":"message/send","params":{"message":{"kind":"message","messageId":"test-notification-0badf00d",`+
				`"role":"user","parts":[{"kind":"text","text":"Notification test"}]}}}`).refused(t, -32600)
		}},
		{"test_json_rpc_error_extensions", func(t *testing.T, c v0) {
			c.call(t, "invalid/method", object{"invalid": "params"}).refused(t, -32601)
		}},
	}
}

func v0Streams() []v0Requirement {
	asked := func(t *testing.T, c v0) {
		events := c.stream(t, "message/stream", object{"message": v0Message()})
		if got, want := kinds(t, events), "task:submitted status-update:working status-update:input-required:final"; got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		for _, e := range events[1:] {
			if str(e.result, "taskId") != str(events[0].result, "id") || e.id != "req-1" {
				t.Errorf("event %s", e.body)
			}
		}
	}
	return []v0Requirement{
		{"test_message_stream_basic", asked},
		{"test_sse_header_compliance", asked},
		{"test_sse_connection_management", asked},
		{"test_sse_event_format_compliance", func(t *testing.T, c v0) {
			events := c.stream(t, "message/stream", object{"message": v0Message("messageId", "tck-stream-001")})
			want := "task:submitted status-update:working artifact-update status-update:completed:final"
			if got := kinds(t, events); got != want || str(events[2].result, "artifact", "parts", 0, "kind") != "text" {
				t.Errorf("got %s, want %s", got, want)
			}
		}},
		{"test_message_stream_invalid_params", func(t *testing.T, c v0) {
			if got := kinds(t, c.stream(t, "message/stream", object{"invalid": "params"})); got != "-32602" {
				t.Errorf("got %s", got)
			}
		}},
		{"test_tasks_resubscribe", func(t *testing.T, c v0) {
			r := c.call(t, "message/send", object{"message": v0Message("messageId", "test-resubscribe-message-id-1"), "configuration": object{"blocking": false}})
			events := c.stream(t, "tasks/resubscribe", object{"id": str(r.result, "id")})
			if len(events) < 2 || str(events[0].result, "kind") != "task" || at(events[len(events)-1].result, "final") != true {
				t.Errorf("got %s", kinds(t, events))
			}
		}},
		{"test_tasks_resubscribe_nonexistent", func(t *testing.T, c v0) {
			events := c.stream(t, "tasks/resubscribe", object{"id": "non-existent-task-id"})
			if got := kinds(t, events); got != "-32001" || !strings.Contains(strings.ToLower(events[0].text), "not found") {
				t.Errorf("got %s %v", got, events)
			}
		}},
	}
}
