package peerwords

import (
	"strings"
	"unicode"
)

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
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return -1
		}
		return r
	}, text)
}
