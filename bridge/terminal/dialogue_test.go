package terminal

import (
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/bridge"
)

// asked is a question, as a task's status has it.
func asked(t *testing.T, data map[string]any) bridge.Question {
	t.Helper()
	e, _ := question("codex asks", data).(*a2a.TaskStatusUpdateEvent)
	open := bridge.Questions(e.Status)
	if len(open) != 1 {
		t.Fatalf("%d questions are open", len(open))
	}
	return open[0]
}

// TestDialogues lead from what a person writes to the answer.
func TestDialogues(t *testing.T) {
	form := map[string]any{"kind": "form", "schema": map[string]any{
		"required": []any{"name", "level"}, "properties": map[string]any{
			"age":   map[string]any{"type": "integer"},
			"level": map[string]any{"type": "string", "enum": []any{"low", "high"}},
			"name":  map[string]any{"type": "string", "title": "Your name"},
			"sure":  map[string]any{"type": "boolean"},
		},
	}}
	one := map[string]any{"kind": "input", "questions": []any{map[string]any{
		"id": "q", "question": "Which?", "options": []any{map[string]any{"label": "red"}, map[string]any{"label": "blue"}},
	}}}
	approval := map[string]any{"kind": "command", "choices": []any{"accept", map[string]any{"a": "rule"}, "decline", "cancel"}}
	for name, test := range map[string]struct {
		question map[string]any
		lines    []string
		want     reply
	}{
		"a number":                     {approval, []string{"3"}, reply{decision: "cancel"}},
		"a number that is no choice":   {approval, []string{"4"}, reply{words: "4"}},
		"words":                        {approval, []string{" yes "}, reply{words: "yes"}},
		"an option":                    {one, []string{"2"}, reply{words: "blue"}},
		"some of the options":          {one, []string{"1, 2"}, reply{words: "red, blue"}},
		"another text":                 {one, []string{"green, 2"}, reply{words: "green, 2"}},
		"no answer":                    {one, []string{"/decline"}, reply{decision: "decline"}},
		"a form":                       {form, []string{"7", "2", "Ada  L.", "1"}, reply{words: "age: 7\nlevel: high\nname: Ada L.\nsure: true"}},
		"a form without what may lack": {form, []string{"", "low", "Ada", ""}, reply{words: "level: low\nname: Ada"}},
		"a form that is given up":      {form, []string{"7", "/decline"}, reply{decision: "decline"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.question["id"] = "q1"
			d := newDialogue(asked(t, test.question))
			for i, line := range test.lines {
				got, whole, err := d.take(line)
				if last := i == len(test.lines)-1; err != nil || whole != last || last && got != test.want {
					t.Fatalf("after %q the answer is %+v, %t, %v; want %+v", test.lines[:i+1], got, whole, err, test.want)
				}
			}
		})
	}
}

// TestDialogueInsists asks again for what has to be there.
func TestDialogueInsists(t *testing.T) {
	d := newDialogue(asked(t, map[string]any{"id": "q1", "kind": "input", "questions": []any{map[string]any{"id": "q", "question": "Which?"}}}))
	if _, whole, err := d.take("  "); whole || err == nil || !strings.Contains(err.Error(), "/decline") {
		t.Errorf("blanks are an answer: %t, %v", whole, err)
	}
	if got, whole, err := d.take("blue"); !whole || err != nil || got.words != "blue" {
		t.Errorf("%+v, %t, %v", got, whole, err)
	}
}
