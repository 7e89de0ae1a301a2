package requests_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/requests"
)

const id = "0b4cf1ae-7c3c-4a8e-9a55-2f3f4f1f7a01"

var of = requests.Request{Title: "codex asks whether it may run a command", Detail: "codex asks:\n\n    echo approved\n\nApprove is a yes to this, once, and Deny a no."}

// TestRead: a decision is found wherever it stands, and nowhere else.
func TestRead(t *testing.T) {
	accept, decline, nothing := "accept", "decline", ""
	for name, c := range map[string]struct {
		text string
		data any
		meta map[string]any
		want string
	}{
		"words":              {"Request " + id + " was approved.", nil, nil, accept},
		"denied":             {"Your request (" + id + ") has been rejected by Ada.", nil, nil, decline},
		"decision":           {"A decision was made.", nil, map[string]any{"request_id": id, "decision": "Approved"}, accept},
		"status":             {"x", map[string]any{"request": map[string]any{"id": id, "status": "denied"}}, nil, decline},
		"flag":               {"x", nil, map[string]any{"requestId": id, "approved": true}, accept},
		"flag-off":           {"x", nil, map[string]any{"requestId": id, "approved": false}, decline},
		"both-agree":         {"Approved: " + id, nil, map[string]any{"decision": "approved"}, accept},
		"with-its-words":     {"Request " + id + " (" + of.Title + ") was declined.\n\n" + of.Detail, nil, nil, decline},
		"words-cut-off":      {"Declined: " + id + "\n" + of.Detail[:40], nil, nil, decline},
		"only-its-words":     {id + ": " + of.Detail, nil, nil, nothing},
		"contradiction":      {"Denied: " + id, nil, map[string]any{"decision": "approved"}, nothing},
		"two-words":          {"approved or denied: " + id, nil, nil, nothing},
		"not":                {id + " was not approved", nil, nil, nothing},
		"isn't":              {id + " isn’t approved", nil, nil, nothing},
		"pending":            {id, nil, map[string]any{"status": "pending"}, nothing},
		"done-is-no-yes":     {id, nil, map[string]any{"status": "done"}, nothing},
		"ok-is-no-yes":       {id, nil, map[string]any{"status": "ok", "result": "success"}, nothing},
		"question":           {"Was " + id + " approved?", nil, nil, nothing},
		"another-member":     {id, nil, map[string]any{"title": "approved"}, nothing},
		"history":            {"approved", nil, map[string]any{"history": []any{map[string]any{"text": "Request " + id + " was approved", "decision": "approved"}}}, nothing},
		"no-name":            {"approved", nil, nil, nothing},
		"too-much":           {"approved " + id + strings.Repeat(" blah", 4<<10), nil, nil, nothing},
		"deep":               {"x " + id, nest(20, map[string]any{"decision": "approved"}), nil, nothing},
		"question-elsewhere": {"Why? " + id, nil, map[string]any{"decision": "approved"}, accept},
	} {
		m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(c.text))
		if c.data != nil {
			m.Parts = append(m.Parts, a2a.NewDataPart(c.data))
		}
		said := requests.Read(m, c.meta)
		got := nothing
		if yes, ok := said.Decision(of); ok && slices.Contains(said.Names, id) {
			got = map[bool]string{true: accept, false: decline}[yes]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func nest(n int, value any) any {
	for range n {
		value = map[string]any{"x": value}
	}
	return value
}

// FuzzRead: nothing of a message may panic, be read without a bound, or decide both.
func FuzzRead(f *testing.F) {
	f.Add("Request "+id+" was approved", `{"decision":"approved"}`)
	f.Add("?", `{"a":[{"status":"denied","approved":true}],"history":[{"decision":"approved"}]}`)
	f.Add(of.Detail, `[]`)
	f.Fuzz(func(t *testing.T, text, meta string) {
		var members map[string]any
		_ = json.Unmarshal([]byte(meta), &members)
		said := requests.Read(a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text)), members)
		if len(said.Names) > 16 {
			t.Errorf("%d names", len(said.Names))
		}
		accept, ok := said.Decision(of)
		if accept && !ok {
			t.Error("it allows, and decides nothing")
		}
		both := requests.Read(a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text+"\napproved denied")), members)
		if _, ok := both.Decision(requests.Request{}); ok {
			t.Error("words of both kinds decide")
		}
	})
}
