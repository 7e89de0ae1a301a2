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

// Clip is the [Head] of a text, with an ellipsis behind it if that is not all.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return Head(text, n) + "…"
}

// Cleared is the beginning of a text that may be long, without secrets: of the [Head] that is looked
// through for them the last half of n bytes is left out if the text goes on: a secret may lie across
// its end, and redact does not know one by its half. An ellipsis says that there is more.
func Cleared(text string, n int, redact func(string) string) string {
	head := Head(text, n)
	shown := redact(head)
	if len(head) == len(text) {
		return shown
	}
	return Head(shown, max(len(shown)-n/2, 0)) + "…"
}

// Tail returns the characters that end a text and have at most n bytes together.
func Tail(text string, n int) string {
	if len(text) <= n {
		return text
	}
	text = text[len(text)-n:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

// Or returns the text, or another one if there is nothing to see in it.
func Or(text, other string) string {
	if strings.TrimSpace(text) == "" {
		return other
	}
	return text
}
