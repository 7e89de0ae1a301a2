package peerwords

import "strings"

// WithoutMentions takes apart what codex would take for the mention of a skill or a plugin.
// It stands last before codex: what is done to the text after it may make another.
//
// codex adds the whole of a skill to a turn, as words of the user's, wherever a text of the
// turn's input names it behind a dollar sign, in the middle of a word and of code, too, or by a
// link to its file (seen on 0.169.0). Plugins it takes from links alone. It looks into nothing
// else: not into results of tools, instructions, or earlier turns.
func WithoutMentions(text string) string {
	return rewritten(rewritten(rewritten(text, mentionLink), mention), otherMention)
}

// mentionLink finds the beginning of a link that names a skill, a plugin, a server or an app.
func mentionLink(text string, at int) (end int, words string) {
	if text[at] != '[' || at+1 == len(text) || text[at+1] != '$' && text[at+1] != '@' {
		return 0, ""
	}
	end = afterAll(text, at+2, func(b byte) bool { return isWord(b) || b == ':' || b == '-' })
	if end == at+2 || end == len(text) || text[end] != ']' {
		return 0, ""
	}
	if rest := strings.TrimLeft(text[end+1:], blanks); rest == "" || rest[0] != '(' {
		return 0, ""
	}
	return at + 2, text[at:at+2] + " "
}

// mention finds a name that a variable could have: braces leave such a one what it is.
func mention(text string, at int) (end int, words string) {
	if text[at] != '$' {
		return 0, ""
	}
	end = afterAll(text, at+1, isWord)
	if end == at+1 || isDigit(text[at+1]) {
		return 0, ""
	}
	return end, "${" + text[at+1:end] + "}"
}

// otherMention finds all others with a letter. A sum such as $5 has none.
func otherMention(text string, at int) (end int, words string) {
	if text[at] != '$' {
		return 0, ""
	}
	end = afterAll(text, at+1, func(b byte) bool { return isDigit(b) || b == ':' || b == '-' || b == '_' })
	if end == at+1 || text[at+1] == '_' || end == len(text) || !isWord(text[end]) {
		return 0, ""
	}
	return end, "$ " + text[at+1:end]
}

// afterAll returns where the bytes end at a place of which something holds.
func afterAll(text string, at int, holds func(byte) bool) int {
	for at < len(text) && holds(text[at]) {
		at++
	}
	return at
}
