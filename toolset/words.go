package toolset

import "github.com/Molecule-AI/molecule-codex-runtime/internal/peerwords"

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
