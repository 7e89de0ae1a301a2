package peerwords

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// visible takes out what is not seen, and hides what it stands in. Joiners stay where
// scripts need them.
func visible(text string) string {
	last := ' ' // that is seen
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || ' ' <= r && r <= '~':
			last = r
			return r
		case r == '\u200c' || r == '\u200d':
			if last <= unicode.MaxASCII {
				return -1
			}
			return r
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			return -1
		}
		last = r
		return r
	}, text)
}

// usual has the usual form of those letters in it that are of ASCII or are none. Others are a
// part of no imitation, and their usual form can be eleven times as long.
func usual(text string) string {
	if norm.NFKC.IsNormalString(text) {
		return text
	}
	var b strings.Builder
	from := 0
	for at, r := range text {
		if r < utf8.RuneSelf {
			continue
		}
		letter := text[at : at+utf8.RuneLen(r)]
		form := norm.NFKC.PropertiesString(letter).Decomposition()
		ascii, other := kinds(form)
		switch {
		case form == nil, other && !ascii:
			continue
		case other || len(form) > 1 && form[len(form)-1] >= utf8.RuneSelf: // it may be put together again
			form = norm.NFKC.AppendString(nil, letter)
		}
		b.WriteString(text[from:at])
		b.Write(form)
		from = at + len(letter)
	}
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}

// kinds reports whether there are letters and digits of ASCII, and whether there are others.
func kinds(form []byte) (ascii, other bool) {
	for _, r := range string(form) {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			ascii = ascii || r < utf8.RuneSelf
			other = other || r >= utf8.RuneSelf
		}
	}
	return ascii, other
}
