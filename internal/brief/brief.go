// Package brief makes one line of a text that may be long.
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
