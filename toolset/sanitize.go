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

// How many bytes of a peer's words a model gets: less than of a result, which is cut
// without regard to the mark at the end. In JSON up to half of a text is escapes.
const (
	mostWords  = mostText - 1000
	mostQuoted = mostText * 2 / 5
	mostListed = 10
	mostInList = mostQuoted / mostListed
)

// wrap marks a peer's words as such.
func wrap(text string) string { return wrapped(text, mostWords) }

// wrapped marks the beginning of a peer's words, at most so many bytes, as such.
func wrapped(text string, most int) string {
	return peerBegins + "\n" + clip(sanitize(clip(text, most)), most) + "\n" + peerEnds
}

var (
	// marks are imitations of ours, in whatever form.
	marks = regexp.MustCompile(`(?i)A2A_RESULT_FROM_PEER`)
	// headings are those under which instructions of others than the peer stand.
	headings = regexp.MustCompile("(?im)^([^\\pL\\pN\\n]*)(SYSTEM|OVERRIDE|INSTRUCTIONS)([ \t]*(?:[\\]>:*|`]|$))")
	// orders are beginnings of sentences that would turn the reader round.
	orders = regexp.MustCompile(`(?i)\b(IGNORE\s+ALL|YOU\s+ARE\s+NOW)\b`)
	// breaks are the ends of lines that are none to Go.
	breaks = regexp.MustCompile(`\r\n|[\r\v\f\x{85}\x{2028}\x{2029}]`)
)

// sanitize takes apart what could pass for something else than a peer's words. It is
// a second line: the first is that the text is marked, and the model told what that means.
func sanitize(text string) string {
	text = visible(breaks.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "\n"))
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

// visible takes out what is not seen, and hides what it stands in. Joiners stay where
// scripts need them.
func visible(text string) string {
	last := ' '
	return strings.Map(func(r rune) rune {
		before := last
		last = r
		switch {
		case r == '\n' || r == '\t':
			return r
		case (r == '\u200c' || r == '\u200d') && before > unicode.MaxASCII:
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
}
