package adapter

import (
	"fmt"
	"strings"
)

type tomlPair struct{ key, value string }

// tomlTable returns an inline table. Keys are bare keys.
func tomlTable(pairs []tomlPair) string {
	parts := make([]string, len(pairs))
	for i, p := range pairs {
		parts[i] = p.key + "=" + tomlString(p.value)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// tomlString returns s as a TOML basic string.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
