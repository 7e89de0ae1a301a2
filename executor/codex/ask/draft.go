package ask

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// Bounds of what a question shows. Linux starts no command that is longer: an argument has
// 128 KiB at most.
const (
	mostShown   = 128 << 10 // of a command, of all diffs, of a message
	mostChanges = 1000      // files
)

// A View is what is known beside a request.
type View struct {
	Hide    func(string) string                // takes known secrets out of a text
	Changes func(itemID string) []agent.Change // that an item is about to make
	Lead    func(paths []string) []Place       // says where they lead
	Home    Place                              // the working directory
	Called  func(Call) bool                    // whether such a call has begun and not ended
}

// A draft is a question while it is put into words: who answers has to read what is going to be
// done.
type draft struct {
	View

	hid bool // a secret was taken out
	cut bool // not all is shown
}

// look notes where paths lead, of each once. What is shown of it and what an answer is held
// against is one look.
func (d *draft) look(paths ...string) []Place {
	slices.Sort(paths)
	return d.Lead(slices.Compact(paths))
}

// clean is a text without the secrets that are known. What is only shaped like one stays:
// it may be what is run.
func (d *draft) clean(text string) string {
	without := d.Hide(text)
	d.hid = d.hid || without != text
	return without
}

// shown is a text as a question shows it: whole, or with its beginning and its end. Secrets
// go first, lest a part of one is left where it is cut.
func (d *draft) shown(text string) string { return d.within(d.clean(text), mostShown) }

func (d *draft) within(text string, most int) string {
	if len(text) <= most {
		return text
	}
	d.cut = true
	head, tail := text[:most/2], text[len(text)-most/2:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n… %d bytes of this are not shown …\n", len(text)-len(head)-len(tail)) + strings.ToValidUTF8(tail, "")
}

// value is a value of JSON without known secrets.
func (d *draft) value(v any) any {
	switch v := v.(type) {
	case string:
		return d.clean(v)
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = d.value(one)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, one := range v {
			out[d.clean(key)] = d.value(one)
		}
		return out
	}
	return v
}

// arguments are those of a call as data: as their text where they are large, or where a number would
// be rounded by who reads them.
func (d *draft) arguments(raw json.RawMessage) any {
	if v, ok := exactly(raw); ok {
		if v, ok = rounded(v); ok {
			return d.value(v)
		}
	}
	return d.shown(spelled(raw))
}

// json is a value as it is.
func (d *draft) json(v any) string { return d.shown(encoded(v)) }

// remarks say what is missing in the question.
func (d *draft) remarks() string {
	var b strings.Builder
	if d.hid {
		b.WriteString("\n\nWhere *** stands, a secret that the runtime knows is not shown.")
	}
	if d.cut {
		b.WriteString("\n\nThis is too long to be shown whole, so it can be allowed for this once only.")
	}
	return b.String()
}
