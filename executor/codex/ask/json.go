package ask

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
)

// decode decodes the params of a request.
func decode[T any](params json.RawMessage) (body T, err error) {
	err = json.Unmarshal(params, &body)
	return body, err
}

// The arguments of a tool's call are a text of JSON here until they are shown: a yes is to what is
// called, and a number that JSON's readers round, as an id of 19 digits, would be another one's.
// Values take many times as much memory as their text, too, so no large text is made values of.

// spelled is a text of JSON in one spelling, for people and to be compared: a large one only
// without the blanks. Nothing is null.
func spelled(raw json.RawMessage) string {
	if v, ok := exactly(raw); ok {
		return encoded(v)
	}
	var b bytes.Buffer
	_ = json.Compact(&b, raw) // it came as JSON
	return b.String()
}

// encoded is a value as it is.
func encoded(v any) string {
	var b strings.Builder
	text := json.NewEncoder(&b)
	text.SetEscapeHTML(false) // it is read by people
	if err := text.Encode(v); err != nil {
		return fmt.Sprint(v) // cannot be: it came as JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// exactly are the values of a text of JSON, of which the numbers are [json.Number]; ok is false for a
// large one.
func exactly(raw json.RawMessage) (v any, ok bool) {
	if len(raw) == 0 {
		return nil, true
	}
	if len(raw) > mostShown {
		return nil, false
	}
	values := json.NewDecoder(bytes.NewReader(raw))
	values.UseNumber()
	return v, values.Decode(&v) == nil
}

// rounded are values with numbers as JSON's readers have them; ok is false if one of them becomes another.
func rounded(v any) (_ any, ok bool) {
	switch v := v.(type) {
	case json.Number:
		n, err := v.Float64()
		return n, err == nil && isExact(v.String())
	case []any:
		for i := range v {
			if v[i], ok = rounded(v[i]); !ok {
				return nil, false
			}
		}
	case map[string]any:
		for name := range v {
			if v[name], ok = rounded(v[name]); !ok {
				return nil, false
			}
		}
	}
	return v, true
}

// isExact reports whether a number is the same after it was rounded to a float64 and written again,
// as every one of up to 15 digits is.
func isExact(number string) bool {
	digits, _, _ := strings.Cut(strings.ToLower(number), "e")
	digits = strings.TrimLeft(strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, digits), "0")
	return len(digits) <= 15
}

// A Call is what tool of an MCP server is called with what, as a digest: arguments may be large.
type Call [sha256.Size]byte

// CallOf is the call of a server's tool.
func CallOf(server, tool string, arguments json.RawMessage) Call {
	return sha256.Sum256([]byte(encoded([]string{server, tool}) + spelled(arguments)))
}
