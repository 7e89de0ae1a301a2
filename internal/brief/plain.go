package brief

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain returns the text without what makes a terminal do anything but show it, and
// without what is there and not seen: control characters, other ends of lines, those that
// turn the direction of writing or have no width, and bytes that are no text are written
// out. Line feeds and tabs stay. A "yes" to what a model has written is to all that stands
// there, so all of it has to be seen.
func Plain(text string) string { return written(strings.ReplaceAll(text, "\r\n", "\n"), acts) }

// Literal is Plain for a command, a path or the like, where a blank that is not U+0020 is
// written out, too: no shell takes it for one, and several languages write with it. So is a
// carriage return at the end of a line: to a shell that belongs to the last word there, and a
// backslash before it does not have the line go on in the next.
func Literal(text string) string {
	return written(text, func(r rune) bool { return acts(r) || r != ' ' && unicode.Is(unicode.Zs, r) })
}

// Named is a path or a host, quoted where it is more than a line, or less.
func Named(name string) string {
	strange := func(r rune) bool { return unicode.IsSpace(r) && r != ' ' }
	if strings.ContainsFunc(name, strange) || Literal(name) != name {
		return Literal(strconv.Quote(name))
	}
	return name
}

// written is the text with what is hidden written out.
func written(text string, hidden func(rune) bool) string {
	if utf8.ValidString(text) && strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	before := ' '
	for at, r := range text {
		_, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[at])
		case hidden(r) && !joins(before, r, text[at+size:]):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

func acts(r rune) bool {
	switch {
	case r == '\u2800': // Braille's empty pattern, a blank that no language is written with
		return true
	case r == '\n', r == '\t', unicode.Is(unicode.Prepended_Concatenation_Mark, r): // the last are signs that are seen
		return false
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// joins reports whether a character without width does what it is for: scripts and emoji
// take it behind letters and signs of theirs.
func joins(before, r rune, after string) bool {
	switch {
	case r == '\ufe0e', r == '\ufe0f': // the forms of an emoji, many of which are signs of other kinds
		return before > unicode.MaxASCII && (unicode.IsSymbol(before) || unicode.IsPunct(before) || before == 'ℹ') || strings.HasPrefix(after, "\u20e3")
	case unicode.Is(unicode.Variation_Selector, r): // of Han and Mongolian letters
		return unicode.In(before, unicode.Han, unicode.Mongolian) && unicode.IsLetter(before)
	case r == '\u200c', r == '\u200d':
		return before > unicode.MaxASCII && !acts(before) || before == '\ufe0f'
	}
	return false
}

// Indented sets a text off from the lines around it, none of which it can pass for. What would
// make it look like something else is written out as by [Literal].
func Indented(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(Literal(text), "\n"), "\n", "\n    ")
}
