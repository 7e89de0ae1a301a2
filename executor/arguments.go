package executor

import (
	"bytes"
	"encoding/json"
	"strings"
)

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

// arguments are those of a call as data: as their text where they are large, or where a number would
// be rounded by who reads them.
func (p *posing) arguments(raw json.RawMessage) any {
	if v, ok := exactly(raw); ok {
		if v, ok = rounded(v); ok {
			return p.value(v)
		}
	}
	return p.shown(spelled(raw))
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
