package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// A v0Requirement is a test of the 0.3.x suite, by its name there.
type v0Requirement struct {
	id   string
	test func(*testing.T, v0)
}

// TestV0 holds what the 0.3.x suite checks over JSON-RPC, mandatory and
// capabilities.
func TestV0(t *testing.T) {
	c := v0{url: start(t, options{card: cardUnion})}
	for _, r := range allV0() {
		t.Run(r.id, func(t *testing.T) { r.test(t, c) })
	}
}

func allV0() []v0Requirement {
	return slices.Concat(v0JSONRPC(), v0ErrorCodes(), v0Cards(), v0Methods(), v0Capabilities(), v0Streams())
}

func v0JSONRPC() []v0Requirement {
	malformed := func(t *testing.T, c v0) {
		c.raw(t, `{"jsonrpc":"2.0","method":"message/send","params":{"foo":"bar"}`).refused(t, -32700)
	}
	return []v0Requirement{
		{"test_rejects_malformed_json", malformed},
		{"test_raw_invalid_json", malformed},
		{"test_rejects_invalid_json_rpc_requests", func(t *testing.T, c v0) {
			for body, code := range map[string]int{
				`{"jsonrpc": "aaa", "method": "message/send", "params": {}}`:                        -32600,
				`{"jsonrpc": "2.0", "params": {}}`:                                                  -32600,
				`{"jsonrpc": "2.0", "method": "message/ssend", "params": {}}`:                       -32601,
				`{"jsonrpc": "2.0", "method": "message/send", "params": {}, "id": {"bad": "type"}}`: -32600,
				`{"jsonrpc": "2.0", "method": "message/send", "params": {"": "not_a_dict"}}`:        -32602,
			} {
				c.raw(t, body).refused(t, code)
			}
		}},
		{"test_rejects_unknown_method", func(t *testing.T, c v0) {
			r := c.call(t, "nonexistent/method", object{})
			r.refused(t, -32601)
			if r.id != "req-1" {
				t.Errorf("id %v", r.id)
			}
		}},
		{"test_rejects_invalid_params", func(t *testing.T, c v0) {
			c.call(t, "message/send", object{"message": object{"parts": "invalid"}}).refused(t, -32602)
		}},
		{"test_duplicate_request_ids", func(t *testing.T, c v0) {
			for _, text := range []string{"Hello", "This is a different message with the same id"} {
				m := v0Message("parts", []any{object{"kind": "text", "text": text}})
				if r := c.call(t, "message/send", object{"message": m}); r.id != "req-1" || r.code != 0 {
					t.Error(r.body)
				}
			}
		}},
		{"test_invalid_jsonrpc_version", func(t *testing.T, c v0) {
			r := c.raw(t, `{"jsonrpc":"1.0","id":"x","method":"message/send","params":{}}`)
			r.refused(t, -32600)
			if r.id != "x" {
				t.Errorf("id %v", r.id)
			}
		}},
		{"test_missing_method_field", func(t *testing.T, c v0) {
			r := c.raw(t, `{"jsonrpc":"2.0","id":"x","params":{}}`)
			r.refused(t, -32600)
			if r.id != "x" {
				t.Errorf("id %v", r.id)
			}
		}},
	}
}

func v0ErrorCodes() []v0Requirement {
	push := func(t *testing.T, c v0) {
		id := str(c.send(t), "id")
		for method, params := range map[string]object{
			"set":    {"taskId": id, "pushNotificationConfig": object{"url": "https://example.com/webhook", "token": "test-token"}},
			"get":    {"id": id, "pushNotificationConfigId": "default"},
			"list":   {"id": id},
			"delete": {"id": id, "pushNotificationConfigId": "default"},
		} {
			r := c.call(t, "tasks/pushNotificationConfig/"+method, params)
			r.refused(t, -32003)
			for _, word := range []string{"push", "notification", "not", "supported"} {
				if !strings.Contains(strings.ToLower(r.text), word) {
					t.Errorf("%q lacks %q", r.text, word)
				}
			}
		}
	}
	unsupported := func(t *testing.T, c v0) {
		c.call(t, "agent/customUnsupportedOperation", object{"testParameter": "value"}).refused(t, -32601)
		r := c.call(t, "message/send", object{"message": v0Message(), "configuration": object{"blocking": true,
			"historyLength": 999999999, "acceptedOutputModes": []string{"application/unsupported-format"}, "customUnsupportedField": 1}})
		if r.code != 0 && r.code != -32004 {
			t.Error(r.body)
		}
		mute := v0{url: start(t, options{card: cardUnion, mute: true})}
		if got := kinds(t, mute.stream(t, "message/stream", object{"message": v0Message()})); got != "-32004" {
			t.Errorf("stream %s", got)
		}
	}
	return []v0Requirement{
		{"test_push_notification_not_supported_error_32003", push},
		{"test_push_notification_not_supported_error_32003_enhanced", push},
		{"test_unsupported_operation_error_32004", unsupported},
		{"test_unsupported_operation_error_32004_enhanced", unsupported},
		{"test_invalid_method_error_validation", func(t *testing.T, c v0) {
			r := c.call(t, "invalid/nonexistent/method", object{})
			r.refused(t, -32601)
			if !strings.Contains(r.text, "method") {
				t.Error(r.text)
			}
		}},
		{"test_invalid_params_error_validation", func(t *testing.T, c v0) {
			for _, params := range []any{object{}, object{"id": 12345}, object{"id": object{"invalid": "object"}}} {
				c.call(t, "tasks/get", params).refused(t, -32602)
			}
		}},
		{"test_nonexistent_resource_error_validation", func(t *testing.T, c v0) {
			c.call(t, "tasks/get", object{"id": "definitely-nonexistent-task-id-12345"}).refused(t, -32001)
			c.call(t, "tasks/get", object{"id": ""}).refused(t, -32602)
		}},
		{"test_error_consistency_across_methods", func(t *testing.T, c v0) {
			for _, method := range []string{"tasks/get", "tasks/cancel"} {
				c.call(t, method, object{}).refused(t, -32602)
				c.call(t, method, object{"id": ""}).refused(t, -32602)
				c.call(t, method, object{"id": "nope"}).refused(t, -32001)
			}
		}},
		{"test_error_response_completeness", func(t *testing.T, c v0) {
			r := c.call(t, "tasks/get", object{"id": "nope"})
			if !strings.Contains(r.text, "Task not found") || strings.Contains(r.body, `"data"`) {
				t.Error(r.body)
			}
		}},
		{"test_error_handling_equivalence", func(t *testing.T, c v0) {
			c.call(t, "tasks/get", object{"id": "invalid-nonexistent-task-id-12345"}).refused(t, -32001)
			c.call(t, "message/send", object{"message": object{"invalid": "structure"}}).refused(t, -32602)
		}},
	}
}

func v0Cards() []v0Requirement {
	fields := func(t *testing.T, c v0) {
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
	}
	return []v0Requirement{
		{"test_agent_card_available", func(t *testing.T, c v0) {
			for _, path := range []string{"/", "/.well-known/agent-card.json", "/.well-known/agent.json", "/v1/card", "//v1/card"} {
				if status, _, body := do(t, http.MethodGet, c.url+path, ""); status != 200 || !strings.Contains(body, `"protocolVersion"`) {
					t.Errorf("%s: %d %s", path, status, body)
				}
			}
		}},
		{"test_mandatory_fields_present", fields},
		{"test_mandatory_field_types", fields},
		{"test_agent_card_mandatory_fields", fields},
		{"test_agent_card_capabilities_mandatory", fields},
		{"test_agent_card_input_output_modes_mandatory", fields},
		{"test_agent_card_basic_info_mandatory", fields},
		{"test_public_agent_card_access_control", fields},
		{"test_agent_card_skills_mandatory", func(t *testing.T, c v0) {
			skills, _ := at(card(t, c.url), "skills").([]any)
			for _, s := range skills {
				if tags, _ := at(s, "tags").([]any); str(s, "id") == "" || str(s, "name") == "" || str(s, "description") == "" || len(tags) == 0 {
					t.Errorf("skill %v", s)
				}
			}
		}},
		{"test_sensitive_information_protection", func(t *testing.T, _ v0) {
			// The suite looks for words in the card as one line of text, whatever they mean.
			c := v0{url: start(t, options{card: cardUnion, publicURL: "http://0.0.0.0:9999"})}
			_, _, body := do(t, http.MethodGet, c.url+"/.well-known/agent-card.json", "")
			words := regexp.MustCompile(`(?is)api[_-]?key|secret|token|password|credential|127\.0\.0\.1|192\.168\.|10\.|172\.(1[6-9]|2\d|3[01])\.|localhost|(internal|private|admin|debug|test).*(url|endpoint|host)`)
			if found := words.FindString(body); found != "" {
				t.Errorf("the card has %q", found)
			}
		}},
		{"test_agent_card_access_equivalence", extendedV0Card},
		{"test_authenticated_extended_card_comprehensive", extendedV0Card},
	}
}

// extendedV0Card is answered although the card does not promise it: two tests of
// the suite contradict each other otherwise.
func extendedV0Card(t *testing.T, c v0) {
	r := c.call(t, "agent/getAuthenticatedExtendedCard", nil)
	if str(r.result, "name") == "" || str(r.result, "protocolVersion") != "0.3" || str(r.result, "url") == "" {
		t.Error(r.body)
	}
	if at(card(t, c.url), "supportsAuthenticatedExtendedCard") == true {
		t.Error("the card promises it")
	}
}

func v0Methods() []v0Requirement {
	text := func(t *testing.T, c v0) { c.send(t) }
	mapping := func(t *testing.T, c v0) {
		id := str(c.send(t), "id")
		for _, method := range []string{"tasks/get", "tasks/cancel"} {
			if r := c.call(t, method, object{"id": id}); str(r.result, "id") != id || str(r.result, "kind") != "task" {
				t.Errorf("%s: %s", method, r.body)
			}
		}
	}
	concurrent := func(t *testing.T, c v0) {
		ids := map[string]bool{}
		for range 3 {
			ids[str(c.send(t), "id")] = true
		}
		if len(ids) != 3 {
			t.Errorf("tasks %v", ids)
		}
	}
	prompt := func(t *testing.T, c v0) {
		begin := time.Now()
		c.send(t)
		card(t, c.url)
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("took %v", took)
		}
	}
	return []v0Requirement{
		{"test_message_send_valid_text", text},
		{"test_message_sending_equivalence", text},
		{"test_json_rpc_method_extensions", text},
		{"test_jsonrpc_specific_features", text},
		{"test_core_method_mapping_compliance", mapping},
		{"test_transport_specific_method_naming", mapping},
		{"test_concurrent_operation_equivalence", concurrent},
		{"test_concurrent_method_calls", concurrent},
		{"test_performance_equivalence", prompt},
		{"test_method_response_times", prompt},
		{"test_message_send_invalid_params", func(t *testing.T, c v0) {
			c.call(t, "message/send", object{"message": object{"kind": "message"}}).refused(t, -32602)
		}},
		{"test_message_send_continue_task", func(t *testing.T, c v0) {
			first := c.send(t)
			if next := c.send(t, "taskId", str(first, "id")); str(next, "id") != str(first, "id") {
				t.Errorf("task %v, then %v", first, next)
			}
		}},
		{"test_task_history_length", func(t *testing.T, c v0) {
			id := str(c.send(t), "id")
			for i := range 3 {
				c.send(t, "taskId", id, "parts", []any{object{"kind": "text", "text": fmt.Sprint("Follow-up message ", i)}})
			}
			whole, _ := at(c.call(t, "tasks/get", object{"id": id}).result, "history").([]any)
			two, _ := at(c.call(t, "tasks/get", object{"id": id, "historyLength": 2}).result, "history").([]any)
			if len(whole) <= 3 || len(two) != 2 {
				t.Errorf("%d and %d messages", len(whole), len(two))
			}
			c.call(t, "tasks/get", object{"id": id, "historyLength": -1}).refused(t, -32602)
		}},
		{"test_tasks_cancel_valid", func(t *testing.T, c v0) {
			id := str(c.send(t), "id")
			r := c.call(t, "tasks/cancel", object{"id": id})
			if str(r.result, "id") != id || str(r.result, "status", "state") != "canceled" {
				t.Error(r.body)
			}
		}},
		{"test_tasks_cancel_nonexistent", func(t *testing.T, c v0) {
			c.call(t, "tasks/cancel", object{"id": "nonexistent-task-id"}).refused(t, -32001)
		}},
		{"test_tasks_get_valid", v0Get},
		{"test_tasks_get_with_history_length", v0Get},
		{"test_task_retrieval_equivalence", v0Get},
		{"test_tasks_get_enhanced_parameters", v0Get},
		{"test_tasks_get_nonexistent", func(t *testing.T, c v0) {
			c.call(t, "tasks/get", object{"id": "nonexistent-task-id"}).refused(t, -32001)
		}},
		{"test_error_response_enhancements", func(t *testing.T, c v0) {
			c.call(t, "tasks/get", object{"id": "nonexistent-task-id"}).refused(t, -32001)
		}},
	}
}

func v0Get(t *testing.T, c v0) {
	id := str(c.send(t), "id")
	r := c.call(t, "tasks/get", object{"id": id, "historyLength": 1, "includeArtifacts": true})
	if history, _ := at(r.result, "history").([]any); str(r.result, "id") != id || str(r.result, "status", "state") == "" || len(history) != 1 {
		t.Error(r.body)
	}
}
