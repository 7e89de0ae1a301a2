package wirelog

import (
	"bytes"
	"encoding/json"
)

// mask stands where a secret stood.
const mask = "***"

// A cleaner takes secrets out of JSON and leaves it JSON.
type cleaner struct {
	redact func(string) string
}

// secretName reports whether the strings of a member are secrets, whatever they look
// like: tokens and keys, and what a login that is under way consists of.
func secretName(name []byte) bool {
	if len(name) < 5 || len(name) > 64 { // "token" is the shortest
		return false
	}
	var room [64]byte
	bare := room[:0] // in lower case, without what words are joined by
	for _, b := range name {
		switch {
		case b == '_' || b == '-':
			continue
		case 'A' <= b && b <= 'Z':
			b += 'a' - 'A'
		}
		bare = append(bare, b)
	}
	if joined := len(name) > 6 && len(bare) < len(name); joined && bytes.HasSuffix(bare, []byte("token")) {
		return true // GH_TOKEN, and not nextPageToken
	}
	switch string(bare) {
	case "token", "email":
		return true
	}
	for _, end := range secretEnds() {
		if bytes.HasSuffix(bare, []byte(end)) {
			return true
		}
	}
	return false
}

// secretEnds are how the names of such members end.
func secretEnds() [23]string {
	return [...]string{
		"apikey", "accesstoken", "refreshtoken", "idtoken", "authtoken", "sessiontoken", "bearertoken", "githubtoken", "csrftoken",
		"secret", "password", "passwd", "authorization", "cookie", "usercode", "devicecode", "verificationuri", "verificationurl",
		"verificationuricomplete", "verificationurlcomplete",
		"authurl", "codeverifier", "privatekey",
	}
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
				name = secretName(raw[1 : len(raw)-1])
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
