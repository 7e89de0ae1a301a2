package wire

import (
	"bytes"
	"encoding/json"
)

// Marshal is json.Marshal without the escaping of <, > and &, which only matters
// inside of HTML.
func Marshal(v any) (json.RawMessage, error) { return EncodeWithin("", v, "") }

// Encode is [Marshal] with a newline behind it.
func Encode(v any) ([]byte, error) { return EncodeWithin("", v, "\n") }

// EncodeWithin writes head, v and tail. What is JSON already is not read again.
func EncodeWithin(head string, v any, tail string) ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteString(head)
	if raw, ok := v.(json.RawMessage); ok {
		buf.Write(raw)
	} else {
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return nil, err
		}
		buf.Truncate(buf.Len() - 1) // its newline
	}
	buf.WriteString(tail)
	return buf.Bytes(), nil
}
