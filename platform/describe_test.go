package platform_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// describe says what a schema wants, in the rows of testdata/sent.txt.
func describe(s *jsonschema.Schema) map[string]*row {
	rows := map[string]*row{}
	describeMembers(rows, "", s)
	return rows
}

func describeAt(rows map[string]*row, path string, s *jsonschema.Schema, wanted bool) {
	for s.Ref != nil {
		s = s.Ref
	}
	rows[path] = &row{is: wordsFor(s), wanted: wanted}
	describeMembers(rows, path, s)
}

func describeMembers(rows map[string]*row, path string, s *jsonschema.Schema) {
	for name, member := range s.Properties {
		describeAt(rows, below(path, name), member, slices.Contains(s.Required, name))
	}
	for _, name := range s.Required {
		if s.Properties[name] == nil {
			rows[below(path, name)] = &row{is: "any", wanted: true}
		}
	}
	if s.Items2020 != nil {
		describeAt(rows, path+"[]", s.Items2020, false)
	}
	open := s.Types == nil || slices.Contains(s.Types.ToStrings(), "object")
	switch more := s.AdditionalProperties.(type) {
	case *jsonschema.Schema:
		describeAt(rows, below(path, "*"), more, false)
	case bool:
		open = open && more
	}
	if at := below(path, "*"); open && rows[at] == nil {
		rows[at] = &row{is: "any"}
	}
}

// wordsFor are the words of a row for a schema. What rows have no word for is said to be there.
func wordsFor(s *jsonschema.Schema) string {
	var words []string
	switch {
	case s.Const != nil:
		words = []string{fmt.Sprintf("%q", *s.Const)}
	case s.Enum != nil:
		for _, value := range s.Enum.Values {
			words = append(words, fmt.Sprintf("%q", value))
		}
	case s.Types != nil:
		for _, kind := range s.Types.ToStrings() {
			if kind == "array" {
				kind = "list"
			}
			if kind == "string" && least(s.MinLength) || kind == "list" && least(s.MinItems) {
				kind += "+"
			}
			words = append(words, kind)
		}
	default:
		words = []string{"any"}
	}
	slices.Sort(words)
	if bound(s) {
		words = append(words, "and bounds that have no word here")
	}
	return strings.Join(words, " ")
}

func least(n *int) bool { return n != nil && *n > 0 }

func bound(s *jsonschema.Schema) bool {
	more := func(n *int) bool { return n != nil && *n > 1 }
	return len(s.AllOf)+len(s.AnyOf)+len(s.OneOf)+len(s.PatternProperties)+len(s.PrefixItems)+len(s.DependentRequired)+len(s.DependentSchemas) > 0 ||
		s.Not != nil || s.If != nil || s.Pattern != nil || s.Format != nil || s.PropertyNames != nil || s.Contains != nil || s.UniqueItems ||
		more(s.MinLength) || more(s.MinItems) || s.MaxLength != nil || s.MaxItems != nil || s.MinProperties != nil || s.MaxProperties != nil ||
		s.Minimum != nil || s.Maximum != nil || s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil || s.MultipleOf != nil
}

// TestChangesOfASchema: what has moved in a schema is said in the rows of the statement.
func TestChangesOfASchema(t *testing.T) {
	s := &statement{rows: map[string]*row{
		"id": readRow([]string{"string+", "!"}), "gone": readRow([]string{"string"}), "mode": readRow([]string{`"push"`, `"poll"`}),
		"card": readRow([]string{"object"}), "card.name": readRow([]string{"string"}), "card.ours": readRow([]string{"string"}),
		"tools": readRow([]string{"list"}), "tools[]": readRow([]string{"string"}), "same": readRow([]string{"integer", "-"}),
		"url": readRow([]string{"string"}), "more": readRow([]string{"object"}), "more.*": readRow([]string{"boolean"}),
	}}
	schema := `{"type":"object","additionalProperties":false,"required":["id","key"],
		"properties":{"id":{"type":"string"},"mode":{"enum":["poll"]},"card":{"$ref":"#/$defs/card"},"same":{"type":"integer"},
			"tools":{"type":"array","items":{"type":"integer"}},"key":{"type":"string","minLength":1},"url":{"type":"string","maxLength":9},
			"more":{"type":"object","additionalProperties":false}},
		"$defs":{"card":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}}}`
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	compiler, name := jsonschema.NewCompiler(), filepath.Join(t.TempDir(), "moved.json")
	if err := compiler.AddResource(name, value); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"card.name is string, wanted, and was string",
		"gone (string) is not known any more",
		"id is string, wanted, and was string+, wanted",
		`mode is "poll", and was "poll" "push"`,
		"more.* (boolean) is not known any more",
		"tools[] is integer, and was string",
		"url is string and bounds that have no word here, and was string",
		"key (string+, wanted) is new",
	}
	if got := s.changes(describe(compiled)); !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}
