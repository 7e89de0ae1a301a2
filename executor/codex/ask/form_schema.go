package ask

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// A formSchema says what a form may be filled in d.
type formSchema struct {
	rules   *jsonschema.Resolved // nil for one that is not understood: whatever is answered goes to the server
	formats map[string]string    // of the fields that have one, which the library only notes
}

// readFormSchema reads the schema of a form. One that refers to anything, which forms have no
// need of, is not understood: it may lead back to itself, or come to be larger than it looks.
func readFormSchema(schema any) formSchema {
	if _, ok := schema.(map[string]any); !ok || refers(schema) {
		return formSchema{}
	}
	text, err := json.Marshal(schema)
	if err != nil {
		return formSchema{}
	}
	var read jsonschema.Schema
	if json.Unmarshal(text, &read) != nil {
		return formSchema{}
	}
	read.Schema = "" // forms have nothing in which the versions differ
	rules, err := read.Resolve(nil)
	if err != nil {
		return formSchema{}
	}
	s := formSchema{rules: rules, formats: map[string]string{}}
	for name, property := range read.Properties {
		if property != nil && property.Format != "" {
			s.formats[name] = property.Format
		}
	}
	return s
}

func refers(part any) bool {
	switch part := part.(type) {
	case map[string]any:
		for name, value := range part {
			if name == "$ref" || name == "$dynamicRef" || name == "$recursiveRef" || refers(value) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(part, refers)
	}
	return false
}

// fits says what is wrong with values.
func (s formSchema) fits(values map[string]any) error {
	if s.rules == nil {
		return nil
	}
	if err := s.rules.Validate(inFloats(values)); err != nil {
		return err
	}
	for name, format := range s.formats {
		if text, ok := values[name].(string); ok && !formatted(text, format) {
			return fmt.Errorf("%s is no %s", name, format)
		}
	}
	return nil
}

// inFloats are values as the library knows numbers.
func inFloats(values map[string]any) map[string]any {
	all := maps.Clone(values)
	for name, value := range all {
		if n, ok := value.(json.Number); ok {
			all[name], _ = n.Float64()
		}
	}
	return all
}

// formatted reports whether a text is of a format, of those that MCP has for forms.
func formatted(text, format string) bool {
	var err error
	switch format {
	case "email":
		var address *mail.Address
		address, err = mail.ParseAddress(text)
		return err == nil && address.Address == text
	case "uri":
		var u *url.URL
		u, err = url.Parse(text)
		return err == nil && u.IsAbs()
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
	}
	return err == nil
}

// misfit says in one line what is wrong with values.
func misfit(err error) string {
	lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
	return brief.Literal(strconv.Quote(brief.Clip(strings.TrimLeft(lines[len(lines)-1], "- "), 200))) // a server has worded parts of it
}
