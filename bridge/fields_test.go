package bridge_test

import (
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/go-cmp/cmp"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
)

// TestFields are what a person is asked for one after the other.
func TestFields(t *testing.T) {
	form := object{"required": []any{"name"}, "properties": object{
		"name":  object{"type": "string", "title": "Your name", "description": "as in your passport"},
		"level": object{"type": "string", "oneOf": []any{object{"const": "l", "title": "low"}, object{"const": "h"}}},
		"parts": object{"type": "array", "items": object{"enum": []any{"a", "b"}}},
		"sure":  object{"type": "boolean"},
	}}
	for name, test := range map[string]struct {
		question object
		want     []bridge.Field
	}{
		"a decision": {object{"kind": "command"}, nil},
		"questions": {object{"kind": "input", "questions": []any{
			object{"id": "x", "question": "Which?", "options": []any{object{"label": "red", "description": "as blood"}}}, object{"id": "y", "question": "The key?", "secret": true}, "odd",
		}}, []bridge.Field{
			{ID: "x", Name: "1", Text: "Which?", Options: []bridge.Option{{Label: "red", Description: "as blood"}}}, {ID: "y", Name: "2", Text: "The key?", Secret: true},
		}},
		"a form": {object{"kind": "form", "schema": form}, []bridge.Field{
			{ID: "level", Name: "level", Text: "level", Optional: true, Options: []bridge.Option{{Label: "low"}, {Label: "h"}}},
			{ID: "name", Name: "name", Text: "name: Your name: as in your passport"},
			{ID: "parts", Name: "parts", Text: "parts", Optional: true, Options: []bridge.Option{{Label: "a"}, {Label: "b"}}},
			{ID: "sure", Name: "sure", Text: "sure", Optional: true, Options: []bridge.Option{{Label: "true"}, {Label: "false"}}},
		}},
		"a form that is none": {object{"kind": "form", "schema": "odd"}, []bridge.Field{}},
	} {
		t.Run(name, func(t *testing.T) {
			test.question["id"] = "q1"
			open := bridge.Questions(a2a.TaskStatus{
				State: a2a.TaskStateInputRequired, Message: a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewDataPart(test.question)),
			})
			if len(open) != 1 {
				t.Fatalf("%d questions", len(open))
			}
			if diff := cmp.Diff(test.want, open[0].Fields()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
