package brief

import (
	"strconv"
	"strings"
	"unicode"
)

// Plain returns the text without what makes a terminal do anything but show it:
// control characters, other ends of lines, and what turns the direction of writing are
// written out.
// Line feeds and tabs stay. Whoever reads what a model has written, and says yes to
// it, must read what there is.
func Plain(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.IndexFunc(text, acts) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if acts(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func acts(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}
