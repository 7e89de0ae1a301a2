package wirelog

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// mask stands where a secret stood.
const mask = "***"

// A cleaner takes secrets out of JSON and leaves it JSON.
type cleaner struct {
	redact func(string) string
	names  *regexp.Regexp // of members whose strings are secrets
}

// newCleaner returns one. That takes a moment, which is spent only where something is
// recorded.
func newCleaner(redact func(string) string) cleaner {
	return cleaner{redact, regexp.MustCompile(hiddenNames)}
}

// hiddenNames are the names of members whose strings are secrets, whatever they
// look like: tokens and keys, and what a login that is under way consists of.
const hiddenNames = `(?i)(^|[a-z0-9_.-])(api[_-]?key|(access|refresh|id|auth|session|bearer|gh|github|csrf)[_-]?token|[_-]token|secret|password|passwd|authorization|cookie|user[_-]?code|device[_-]?code|verification[_-]?ur[il]([_-]?complete)?|auth[_-]?url|code[_-]?verifier|private[_-]?key)$|^(token|email)$`

// secretName reports whether the strings of a member are secrets.
func (c cleaner) secretName(name []byte) bool {
	if len(name) < 5 || len(name) > 64 { // "token" is the shortest
		return false
	}
	return c.names.Match(name)
}

// json returns a JSON value without secrets; ok is false if it is none. Numbers and
// names of members stay unless a name itself is a secret.
func (c cleaner) json(text []byte) (clean []byte, ok bool) {
	if !json.Valid(text) {
		return nil, false
	}
	out := make([]byte, 0, len(text)+16)
	hidden := 0 // the depth inside of a member whose strings are all hidden; 0 outside
	depth, name := 0, false
	for i := 0; i < len(text); {
		switch b := text[i]; b {
		case '{', '[':
			depth++
		case '}', ']':
			if depth == hidden {
				hidden = 0
			}
			depth--
			name = false
		case ',':
			name = false
		case '"':
			end := stringEnd(text, i)
			raw := text[i:end]
			if isName(text, end) {
				name = c.secretName(raw[1 : len(raw)-1])
				if name && hidden == 0 && opensArray(text, end) {
					hidden = depth + 1
				}
				out = append(out, c.string(raw)...)
			} else if name || hidden > 0 {
				out = append(out, `"***"`...)
			} else {
				out = append(out, c.string(raw)...)
			}
			i = end
			continue
		case '\n', '\r':
			i++
			continue
		}
		out = append(out, text[i])
		i++
	}
	return out, true
}

// stringEnd returns the place behind the string that begins at i.
func stringEnd(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// isName reports whether the string that ends before i is the name of a member.
func isName(text []byte, i int) bool {
	rest := bytes.TrimLeft(text[i:min(len(text), i+16)], " \t")
	return len(rest) > 0 && rest[0] == ':'
}

// opensArray reports whether the member whose name ends before i is an array: its
// strings are as secret as one would be.
func opensArray(text []byte, i int) bool {
	rest := bytes.TrimLeft(text[i:min(len(text), i+16)], " \t:")
	return len(rest) > 0 && rest[0] == '['
}

// string returns a JSON string without the secrets in it.
func (c cleaner) string(raw []byte) []byte {
	plain := string(raw[1 : len(raw)-1])
	if bytes.IndexByte(raw, '\\') >= 0 && json.Unmarshal(raw, &plain) != nil {
		return []byte(`"***"`)
	}
	clean := c.redact(plain)
	if clean == plain {
		return bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return encode(clean)
}

// encode is a value as JSON on one line, with nothing escaped that need not be.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte(`null`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}
