package bridge

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
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
		field.Options = optionsOf(of)
		fields = append(fields, field)
	}
	return fields
}

// optionsOf are the values among which a member of a form is chosen, or several of which a list is made.
func optionsOf(schema map[string]any) (options []Option) {
	if items, ok := schema["items"].(map[string]any); ok {
		schema = items
	}
	if kind, _ := schema["type"].(string); kind == "boolean" {
		return []Option{{Label: "true"}, {Label: "false"}}
	}
	values, _ := schema["enum"].([]any)
	for _, value := range values {
		options = append(options, Option{Label: fmt.Sprint(value)})
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		titled, _ := schema[key].([]any)
		for _, one := range titled {
			one, _ := one.(map[string]any)
			label, _ := one["title"].(string)
			if value, ok := one["const"]; ok {
				options = append(options, Option{Label: orElse(label, fmt.Sprint(value))})
			}
		}
	}
	return options
}
