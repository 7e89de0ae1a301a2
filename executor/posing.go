package executor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// Bounds of what a question shows. Linux starts no command that is longer: an argument has
// 128 KiB at most.
const (
	mostShown   = 128 << 10 // of a command, of all diffs, of a message
	mostChanges = 1000      // files
)

// A posing is what a turn knows beside the question, and what became of the question as it
// was put into words: who answers has to read what is going to be done.
type posing struct {
	hide    func(string) string // takes known secrets out of a text
	changes func(itemID string) []appserver.FileChange
	lead    func(paths []string) []place                              // says where they lead
	home    place                                                     // the working directory
	called  func(server, tool string, arguments json.RawMessage) bool // whether such a call of an MCP server's tool has begun and not ended

	hid bool // a secret was taken out
	cut bool // not all is shown
}

// look notes where paths lead, of each once. What is shown of it and what an answer is held
// against is one look.
func (p *posing) look(paths ...string) []place {
	slices.Sort(paths)
	return p.lead(slices.Compact(paths))
}

// clean is a text without the secrets that are known. What is only shaped like one stays:
// it may be what is run.
func (p *posing) clean(text string) string {
	without := p.hide(text)
	p.hid = p.hid || without != text
	return without
}

// shown is a text as a question shows it: whole, or with its beginning and its end. Secrets
// go first, lest a part of one is left where it is cut.
func (p *posing) shown(text string) string { return p.within(p.clean(text), mostShown) }

func (p *posing) within(text string, most int) string {
	if len(text) <= most {
		return text
	}
	p.cut = true
	head, tail := text[:most/2], text[len(text)-most/2:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n… %d bytes of this are not shown …\n", len(text)-len(head)-len(tail)) + strings.ToValidUTF8(tail, "")
}

// value is a value of JSON without known secrets.
func (p *posing) value(v any) any {
	switch v := v.(type) {
	case string:
		return p.clean(v)
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = p.value(one)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, one := range v {
			out[p.clean(key)] = p.value(one)
		}
		return out
	}
	return v
}

// json is a value as it is.
func (p *posing) json(v any) string { return p.shown(encoded(v)) }

func encoded(v any) string {
	var b strings.Builder
	text := json.NewEncoder(&b)
	text.SetEscapeHTML(false) // it is read by people
	if err := text.Encode(v); err != nil {
		return fmt.Sprint(v) // cannot be: it came as JSON
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// remarks say what is missing in the question.
func (p *posing) remarks() string {
	var b strings.Builder
	if p.hid {
		b.WriteString("\n\nWhere *** stands, a secret that the runtime knows is not shown.")
	}
	if p.cut {
		b.WriteString("\n\nThis is too long to be shown whole, so it can be allowed for this once only.")
	}
	return b.String()
}

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

// named is a path or a host, quoted where it is more than a line, or less.
func named(name string) string {
	strange := func(r rune) bool { return unicode.IsSpace(r) && r != ' ' }
	if strings.ContainsFunc(name, strange) || brief.Literal(name) != name {
		return brief.Literal(strconv.Quote(name))
	}
	return name
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
	return brief.Literal(strconv.Quote(clipped(name, mostTitle)))
}

// mostTitle is how long such a name is at most.
const mostTitle = 128

// clipped returns the beginning of a text and says so where it is not all.
func clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}
