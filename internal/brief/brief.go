// Package brief makes one line, or the beginning, of a text that may be long.
package brief

import (
	"strings"
	"unicode/utf8"
)

// Line returns the text on one line, its white space collapsed, and at most n
// characters of it: of what is longer the end is an ellipsis.
func Line(text string, n int) string {
	line := strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(line) <= n {
		return line
	}
	count := 0
	for at := range line {
		if count == n-1 {
			return line[:at] + "…"
		}
		count++
	}
	return line
}

// Head returns the characters that begin a text and have at most n bytes together.
func Head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// Whole is what is looked through for secrets of a text that may be long: its [Head], without the
// word at the end of that which may be cut, and without the half of it where that is one long word.
// Nobody knows a secret by its half.
func Whole(text string, n int) string {
	head := Head(text, n)
	if len(head) == len(text) {
		return text
	}
	return head[:max(strings.LastIndexAny(head, " \t\r\n"), len(Head(head, len(head)/2)))]
}
