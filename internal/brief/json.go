package brief

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns a text of JSON that means the same, without what [Plain] writes out: it is
// escaped. Encoders of JSON leave most of it as it is, and a terminal may be what reads it.
func JSON(text string) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, acts) < 0 {
		return text
	}
	var b strings.Builder
	for at, r := range text {
		_, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == utf8.RuneError && size == 1: // for a program it is one
			b.WriteString(`\ufffd`)
		case r > 0xffff && acts(r):
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		case r >= utf8.RuneSelf && acts(r), r == '\x7f':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
