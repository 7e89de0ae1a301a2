package peerwords

import "regexp"

// codex adds the whole of a skill to a turn, as words of the user's, wherever a text of the
// turn's input names it behind a dollar sign, in the middle of a word and of code, too, or by a
// link to its file (seen on 0.169.0). Plugins it takes from links alone. It looks into nothing
// else: not into results of tools, instructions, or earlier turns.
var (
	// mentionLinks are links that name a skill, a plugin, a server or an app.
	mentionLinks = regexp.MustCompile(`\[([$@])([A-Za-z0-9_:-]+\]\s*\()`)
	// mentions are names that a variable could have: braces leave such a one what it is.
	mentions = regexp.MustCompile(`\$([A-Za-z_][A-Za-z0-9_]*)`)
	// otherMentions are all others with a letter. A sum such as $5 has none.
	otherMentions = regexp.MustCompile(`\$([0-9:-][0-9:_-]*[A-Za-z])`)
)

// WithoutMentions takes apart what codex would take for the mention of a skill or a plugin.
// It stands last before codex: what is done to the text after it may make another.
func WithoutMentions(text string) string {
	text = mentionLinks.ReplaceAllString(text, "[${1} ${2}")
	text = mentions.ReplaceAllString(text, "$${${1}}")
	return otherMentions.ReplaceAllString(text, "$$ ${1}")
}
