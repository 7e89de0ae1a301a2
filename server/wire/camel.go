package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// camelDepth is how deep the field names of the protocol reach:
// params.message.parts[].x and params.configuration.x.authentication.y. It also
// bounds the work, since each level is decoded anew.
const camelDepth = 6

// camelKeys renames fields in snake_case to camelCase: parsers of ProtoJSON
// must accept both. What belongs to the caller, as metadata does, is not
// touched.
func camelKeys(raw json.RawMessage) json.RawMessage {
	if !hasSnakeKey(raw) {
		return raw
	}
	return camel(raw, camelDepth)
}

// hasSnakeKey reports whether there may be a field name in snake_case. Most
// requests have none.
func hasSnakeKey(raw []byte) bool {
	for at := 0; ; {
		i := bytes.IndexByte(raw[at:], '_')
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i
		for begin > at && snakeByte(raw[begin-1]) {
			begin--
		}
		for end < len(raw) && snakeByte(raw[end]) {
			end++
		}
		if begin > 0 && raw[begin-1] == '"' && end < len(raw) && raw[end] == '"' &&
			bytes.HasPrefix(bytes.TrimLeft(raw[end+1:], " \t\r\n"), []byte(":")) {
			return true
		}
		at = end
	}
}

func snakeByte(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' }

func camel(raw json.RawMessage, depth int) json.RawMessage {
	if depth == 0 || len(raw) == 0 {
		return raw
	}
	var out any
	switch raw[0] {
	case '{':
		o, err := asObject(raw, "")
		if err != nil {
			return raw
		}
		out = camelObject(o, depth)
	case '[':
		var a []json.RawMessage
		if json.Unmarshal(raw, &a) != nil {
			return raw
		}
		for i := range a {
			a[i] = camel(a[i], depth-1)
		}
		out = a
	default:
		return raw
	}
	b, err := json.Marshal(out)
	if err != nil {
		return raw
	}
	return b
}

func camelObject(o object, depth int) object {
	out := make(object, len(o))
	for name, v := range o {
		name = camelName(name)
		if _, both := o[name]; both {
			v = o[name] // the name of the specification wins
		}
		if name != "metadata" && name != "data" {
			v = camel(v, depth-1)
		}
		out[name] = v
	}
	return out
}

func camelName(name string) string {
	const longest = 64 // no name of the protocol is as long
	if len(name) > longest {
		return name
	}
	words := strings.Split(name, "_")
	if slices.Contains(words, "") {
		return name
	}
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}
