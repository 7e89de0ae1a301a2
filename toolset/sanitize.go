package toolset

import (
	"regexp"
	"strings"
	"unicode"
)

// The lines between which stands what a peer has said. They are the escaped form of the
// marks that they look like: that is how they have always been written, and how
// documents for agents quote them.
const (
	peerBegins = "[/ A2A_RESULT_FROM_PEER]"
	peerEnds   = "[/ /A2A_RESULT_FROM_PEER]"
)

// wrap marks a peer's words as such.
func wrap(text string) string {
	return peerBegins + "\n" + sanitize(text) + "\n" + peerEnds
}

var (
	// marks are imitations of ours, in whatever form.
	marks = regexp.MustCompile(`(?i)A2A_RESULT_FROM_PEER`)
	// headings are those under which instructions of others than the peer stand.
	headings = regexp.MustCompile(`(?im)^([\s>#*<\[|]*)(SYSTEM|OVERRIDE|INSTRUCTIONS)(\s*[\]>:*|])`)
	// orders are beginnings of sentences that would turn the reader round.
	orders = regexp.MustCompile(`(?i)\b(IGNORE ALL|YOU ARE NOW)\b`)
)

// sanitize takes apart what could pass for something else than a peer's words. It is
// a second line: the first is that the text is marked, and the model told what that means.
func sanitize(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1 // it hides what it stands before
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = marks.ReplaceAllString(text, "A2A-RESULT-FROM-PEER")
	text = headings.ReplaceAllString(text, "${1}[ESCAPED] ${2}${3}")
	return orders.ReplaceAllString(text, "[ESCAPED] ${1}")
}

// clean is a value of JSON with redact applied to its texts.
func clean(v any, redact func(string) string) any {
	switch x := v.(type) {
	case string:
		return redact(x)
	case []any:
		out := make([]any, len(x))
		for i, one := range x {
			out[i] = clean(one, redact)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for key, one := range x {
			out[redact(key)] = clean(one, redact)
		}
		return out
	default:
		return v
	}
}
