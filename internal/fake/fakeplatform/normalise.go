package fakeplatform

import (
	"encoding/json"
	"strings"
)

// normalise does to a message what each age of the platform does to it.
func (p *Platform) normalise(to *workspace, from string, body object) (*message, string) {
	if body["jsonrpc"] == nil {
		body = object{"jsonrpc": "2.0", "id": newID(), "method": body["method"], "params": body["params"]}
	}
	if body["id"] == nil {
		body["id"] = newID()
	}
	m := &message{to: to, from: from, body: body}
	m.method, _ = body["method"].(string)
	params, _ := body["params"].(map[string]any)
	msg, _ := params["message"].(map[string]any)
	if msg == nil {
		return m, ""
	}
	if id, _ := msg["messageId"].(string); id == "" {
		msg["messageId"] = newID()
	}
	m.id, _ = msg["messageId"].(string)
	if p.era == APR {
		return m, ""
	}
	if role, _ := msg["role"].(string); role == "" {
		msg["role"] = "user"
	}
	if reason := newerParts(msg); reason != "" {
		return m, reason
	}
	if from == "" && p.era == AUG {
		if context, _ := msg["contextId"].(string); context == "" {
			msg["contextId"] = "canvas-" + to.ID
		}
		meta, _ := params["metadata"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
			params["metadata"] = meta
		}
		meta["source"] = "canvas_user"
	}
	return m, ""
}

// newerParts makes parts with a kind of whatever there is.
func newerParts(msg map[string]any) (reason string) {
	parts, ok := msg["parts"].([]any)
	if !ok {
		switch content := msg["content"].(type) {
		case string:
			parts = []any{map[string]any{"kind": "text", "text": content}}
		case []any:
			parts = content
		default:
			return "message must have parts or content"
		}
		delete(msg, "content")
		msg["parts"] = parts
	}
	for _, one := range parts {
		if part, ok := one.(map[string]any); ok && part["kind"] == nil && part["type"] != nil {
			part["kind"] = part["type"]
			delete(part, "type")
		}
	}
	return ""
}

// textOf is the text of a message, of either spelling.
func textOf(body object) string {
	params, _ := body["params"].(map[string]any)
	msg, _ := params["message"].(map[string]any)
	parts, _ := msg["parts"].([]any)
	var text strings.Builder
	for _, one := range parts {
		part, _ := one.(map[string]any)
		said, _ := part["text"].(string)
		text.WriteString(said)
	}
	return text.String()
}

// replyText is what the platform takes for the text of an answer: the first part of
// kind text, of a message or of an artifact; else all of the answer.
func replyText(raw []byte) string {
	type parts []struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	}
	var answer struct {
		Result struct {
			Parts     parts `json:"parts"`
			Artifacts []struct {
				Parts parts `json:"parts"`
			} `json:"artifacts"`
		} `json:"result"`
	}
	_ = json.Unmarshal(raw, &answer)
	all := []parts{answer.Result.Parts}
	for _, artifact := range answer.Result.Artifacts {
		all = append(all, artifact.Parts)
	}
	for _, some := range all {
		for _, part := range some {
			if part.Kind == "text" {
				return part.Text
			}
		}
	}
	return string(raw)
}
