package ask

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// oneLine is a text on one line: those below it are not its to write.
func oneLine(text string) string { return brief.Plain(strings.Join(strings.Fields(text), " ")) }

// setOff puts words that are not ours behind a lead of ours. Where they are more than a line, or
// other than they look, they are indented, lest a line of theirs is taken for ours.
func setOff(lead, words string) string {
	if oneLine(words) != words {
		return strings.TrimRight(lead, " ") + "\n\n" + brief.Indented(words)
	}
	return lead + words
}

// titled is the name that a server has given itself, or a tool: quoted where it could pass for more of the
// sentence that it stands in.
func titled(name string) string {
	plain := func(r rune) bool {
		return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_.-/:", r))
	}
	if name != "" && len(name) <= mostTitle && strings.TrimFunc(name, plain) == "" {
		return name
	}
	return brief.Literal(strconv.Quote(brief.Clip(name, mostTitle)))
}

// mostTitle is how long such a name is at most.
const mostTitle = 128
