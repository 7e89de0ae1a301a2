package brief

import (
	"encoding/json"
	"strings"
)

// Pretty is a value as JSON, for a model to read.
func Pretty(value any) (string, error) {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false) // no browser reads it
	err := e.Encode(value)
	return strings.TrimSuffix(text.String(), "\n"), err
}
