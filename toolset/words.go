package toolset

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// How many bytes of a peer's words a model gets: less than of a result, which is cut
// without regard to the mark at the end. In JSON up to half of a text is escapes.
const (
	mostWords  = mostText - 1000
	mostQuoted = mostText * 2 / 5
	mostListed = 10
	mostInList = mostQuoted / mostListed
)

// wrap marks a peer's words as such.
func wrap(text string) string { return wrapped(text, mostWords) }

// wrapped marks the beginning of a peer's words, at most so many bytes, as such.
func wrapped(text string, most int) string {
	return peerwords.Result(clip(peerwords.Clean(clip(text, most)), most))
}

// wrapLine marks a text of which a short line is shown.
func wrapLine(text string) string { return peerwords.Result(oneLine(text)) }

// clean is a value of JSON with redact applied to its texts.
func clean(v any, redact func(string) string) any {
	switch x := v.(type) {
	case string:
		return redact(x)
	case []any:
		out := make([]any, len(x))
		for i, one := range x {
			out[i] = clean(one, redact)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(x))
		for key, one := range x {
			out[redact(key)] = clean(one, redact)
		}
		return out
	default:
		return v
	}
}

// clip returns the beginning of s, at most n bytes and whole characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// oneLine is a short text of another's for the middle of a sentence.
func oneLine(text string) string { return line(text, 120) }

// line is a text of another's on one line, at most so many bytes of it.
func line(text string, most int) string {
	return clip(strings.Join(strings.Fields(peerwords.Clean(clip(text, 8*most))), " "), most)
}

// nameOf is what a peer is called in texts.
func nameOf(p platform.Peer) string { return oneLine(cmp.Or(p.Name, p.ID)) }

// called is [nameOf] where a model reads it.
func called(p platform.Peer) string { return named(cmp.Or(p.Name, p.ID)) }

// named is a name, or a role, in a text of ours.
func named(text string) string { return peerwords.Name(oneLine(text)) }
