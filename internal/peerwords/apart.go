package peerwords

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Much of what other agents say is looked through at once, as at a start: this is one look
// for each kind, byte by byte, and not a regular expression (the tests have those).

// escaped stands before what would be a heading or an order.
const escaped = "[ESCAPED] "

// takenApart returns a text without imitations: of our marks, of headings under which
// instructions of others than the peer stand, and of beginnings of sentences that would turn
// the reader round. One that has none stays as it is.
func takenApart(text string) string {
	return rewritten(rewritten(rewritten(text, mark), headings()), order)
}

// rewritten replaces what find finds: where something begins at a place, it returns where that
// ends, and what stands for it.
func rewritten(text string, find func(text string, at int) (end int, words string)) string {
	var b strings.Builder
	from := 0
	for at := 0; at < len(text); at++ {
		if end, words := find(text, at); end > 0 {
			b.WriteString(text[from:at])
			b.WriteString(words)
			from, at = end, end-1
		}
	}
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}

// mark finds an imitation of ours, in whatever form.
func mark(text string, at int) (end int, words string) {
	end = after(text, at, "A2A_")
	if end == 0 {
		return 0, ""
	}
	of := end
	if end = max(after(text, of, "RESULT"), after(text, of, "MESSAGE")); end == 0 {
		return 0, ""
	}
	what := text[of:end]
	return after(text, end, "_FROM_PEER"), "A2A-" + what + "-FROM-PEER"
}

// headings finds words that a line begins with, whatever stands before them that is no letter
// or number, if they stand alone or a mark is behind them.
func headings() func(text string, at int) (end int, words string) {
	begun := false // there was a letter or a number in the line
	return func(text string, at int) (end int, words string) {
		switch {
		case text[at] == '\n':
			begun = false
			return 0, ""
		case begun || !utf8.RuneStart(text[at]):
			return 0, ""
		}
		r, _ := utf8.DecodeRuneInString(text[at:])
		if begun = unicode.IsLetter(r) || unicode.IsNumber(r); !begun {
			return 0, ""
		}
		end = max(after(text, at, "SYSTEM"), after(text, at, "OVERRIDE"), after(text, at, "INSTRUCTIONS"))
		if end == 0 {
			return 0, ""
		}
		behind := strings.TrimLeft(text[end:], " \t")
		if behind != "" && !strings.ContainsRune("\n]>:*|`", rune(behind[0])) {
			return 0, ""
		}
		return end, escaped + text[at:end]
	}
}

// order finds one that is not escaped.
func order(text string, at int) (end int, words string) {
	switch first := upper(text[at]); {
	case at > 0 && isWord(text[at-1]):
	case first == 'I':
		end = thenWord(text, after(text, at, "IGNORE"), "ALL")
	case first == 'Y':
		end = thenWord(text, thenWord(text, after(text, at, "YOU"), "ARE"), "NOW")
	}
	if end == 0 || end < len(text) && isWord(text[end]) || strings.HasSuffix(text[:at], escaped) {
		return 0, ""
	}
	return end, escaped + text[at:end]
}

// thenWord returns where a word ends that stands behind blanks at a place; 0 if it does not.
func thenWord(text string, at int, word string) int {
	if at == 0 {
		return 0
	}
	behind := strings.TrimLeft(text[at:], blanks)
	if len(behind) == len(text)-at {
		return 0
	}
	return after(text, len(text)-len(behind), word)
}

// after returns where a word ends that stands at a place, in large or small letters; 0 if it
// does not. The word is of capitals of ASCII and what is no letter; the only other letter that
// is one of them in capitals, and not in its usual form, is the long s.
func after(text string, at int, word string) int {
	for _, want := range []byte(word) {
		switch {
		case at < len(text) && upper(text[at]) == want:
			at++
		case want == 'S' && strings.HasPrefix(text[at:], "ſ"):
			at += len("ſ")
		default:
			return 0
		}
	}
	return at
}

func upper(b byte) byte {
	if 'a' <= b && b <= 'z' {
		return b - ('a' - 'A')
	}
	return b
}

// blanks lie between two words.
const blanks = "\t\n\f\r "

// isWord reports whether a byte is of a word of ASCII.
func isWord(b byte) bool {
	return b == '_' || isDigit(b) || 'A' <= upper(b) && upper(b) <= 'Z'
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
