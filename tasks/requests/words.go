package requests

import (
	"slices"
	"strings"
	"unicode"
)

// inText is what a text says that is about the request with that name and nothing else:
//
//	[your|the] [approval] request <id> was|is|has been approved|denied [by …]
//	approved|denied <id>
//	<id> [was|is|has been] approved|denied [by …]
//	… denied automatically|expired|timed out …
func (s Said) inText(name string, of Request) (v vote) {
	text := of.without(s.text)
	if strings.ContainsFunc(text, isOdd) {
		return v
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return !isOfID(r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	words = slices.DeleteFunc(words, func(word string) bool { return strings.Trim(word, "-_") == "" })
	for i, word := range words {
		if words[i] = strings.Trim(word, "_"); words[i] != name {
			words[i] = strings.ToLower(words[i])
		}
	}
	if len(words) == 2 && past[words[0]] && words[1] == name {
		v.decides(words[0])
		return v
	}
	rest, ok := behindSubject(words, name)
	if !ok || len(rest) == 0 {
		return v
	}
	switch by := rest[1:]; {
	case hasLapsed(rest[0]), past[rest[0]] && no[rest[0]] && slices.ContainsFunc(by, hasLapsed):
		v.lapsed = true
	case past[rest[0]] && (len(by) == 0 || by[0] == "by" && len(by) > 1 && len(by) <= mostBy):
		v.decides(rest[0])
	}
	return v
}

// mostBy is how many words say who has decided.
const mostBy = 4

// behindSubject is what a text says of the request with that name.
func behindSubject(words []string, name string) (rest []string, ok bool) {
	named := slices.Index(words, name)
	if named < 0 || named > 3 {
		return nil, false
	}
	for _, word := range words[:named] {
		if word != "your" && word != "the" && word != "approval" && word != "request" {
			return nil, false
		}
	}
	rest = words[named+1:]
	for _, verb := range [][]string{{"has", "been"}, {"has"}, {"was"}, {"is"}} {
		if len(rest) > len(verb) && slices.Equal(rest[:len(verb)], verb) {
			return rest[len(verb):], true
		}
	}
	return rest, true
}

// isOdd reports whether a character has no part in a sentence that decides.
func isOdd(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsSpace(r) && !strings.ContainsRune(".,:;!()[]\"“”`*_-–—'’", r)
}
