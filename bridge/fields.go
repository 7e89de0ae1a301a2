package bridge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A Field is what an answer fills in.
type Field struct {
	ID       string
	Name     string   // what a line of an answer in words calls it
	Text     string   // what is asked for
	Options  []Option // among which it may be chosen; none leaves it to words
	Secret   bool
	Optional bool // of a form that does not require it
}

// An Option is a choice of a field.
type Option struct{ Label, Description string }

// Fields are what an answer fills in, in their order; none where a decision settles the question.
func (q Question) Fields() []Field {
	switch q.kind() {
	case kindInput:
		return inputFields(q.Payload["questions"])
	case kindForm:
		schema, _ := q.Payload["schema"].(map[string]any)
		return formFields(schema)
	}
	return nil
}

func inputFields(asked any) []Field {
	list, _ := asked.([]any)
	fields := make([]Field, 0, len(list))
	for i, one := range list {
		one, _ := one.(map[string]any)
		id, ok := one["id"].(string)
		if !ok {
			continue
		}
		text, _ := one["question"].(string)
		secret, _ := one["secret"].(bool)
		field := Field{ID: id, Name: strconv.Itoa(i + 1), Text: text, Secret: secret}
		options, _ := one["options"].([]any)
		for _, o := range options {
			o, _ := o.(map[string]any)
			label, _ := o["label"].(string)
			more, _ := o["description"].(string)
			field.Options = append(field.Options, Option{label, more})
		}
		fields = append(fields, field)
	}
	return fields
}

func formFields(schema map[string]any) []Field {
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	fields := make([]Field, 0, len(properties))
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		of, _ := properties[name].(map[string]any)
		field := Field{ID: name, Name: name, Text: name, Optional: !slices.Contains(required, any(name))}
		for _, key := range []string{"title", "description"} {
			if text, _ := of[key].(string); text != "" {
				field.Text += ": " + text
			}
		}
		for _, value := range valuesOf(of) {
			field.Options = append(field.Options, Option{Label: fmt.Sprint(value)})
		}
		fields = append(fields, field)
	}
	return fields
}

// valuesOf are the values among which a member of a form is chosen.
func valuesOf(schema map[string]any) []any {
	if kind, _ := schema["type"].(string); kind == "boolean" {
		return []any{true, false}
	}
	values, _ := schema["enum"].([]any)
	return values
}

// Say answers a question in words, as docs/messages.md has them. An answer that the runtime does
// not understand is an error that says why.
func (c *Client) Say(ctx context.Context, id, question, words string) (*Task, error) {
	task, err := c.active(ctx, id)
	if err != nil {
		return nil, err
	}
	asked, err := pending(task, id, question)
	if err != nil {
		return nil, err
	}
	m := a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart(words))
	if !asked.Stale() { // the new turn that carries the answer is to read the words, and no more
		m.Parts = append(m.Parts, a2a.NewDataPart(map[string]any{"id": asked.Payload["id"]})) // it, and not the oldest
	}
	return c.reply(ctx, m, question)
}

// reply sends the answer to a question.
func (c *Client) reply(ctx context.Context, m *a2a.Message, question string) (*Task, error) {
	task, err := c.send(ctx, m)
	if err != nil {
		return nil, err
	}
	if find(Questions(task.Status), question) != nil {
		return nil, fmt.Errorf("the answer was not understood: %s", said(task.Status.Message))
	}
	return taskOf(task), nil
}

// pending is the question of an id that a task waits for an answer to.
func pending(task *a2a.Task, id, question string) (*Question, error) {
	asked := find(Questions(task.Status), question)
	if asked == nil {
		return nil, fmt.Errorf("No pending Codex request %q for task %s.%s", question, id, openOnes(task)) //nolint:staticcheck // the words are the tool's
	}
	return asked, nil
}

func find(open []Question, id string) *Question {
	for i := range open {
		if open[i].RequestID == id {
			return &open[i]
		}
	}
	return nil
}
