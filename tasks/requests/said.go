package requests

import (
	"cmp"
	"html"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// How the platform words a decision that it sends was never measured. So one is taken from the members beside
// the id of the request, or from a text that is nothing else, and only where nothing in the whole message speaks
// against it. A message that may mean anything else is words like any.

// What a message says of requests is short: what has more is read by codex.
const (
	mostSaid  = 16 << 10 // bytes
	mostDepth = 8
	mostNames = 16
	shortest  = 16 // bytes of an id that cannot be guessed
)

// A Said is what a message says, as far as it may be about requests.
type Said struct {
	Names []string // that may be ids of requests, those in members first

	beside map[string]vote // of the members beside a name
	all    vote            // of all members
	prose  []string        // what else is said
	text   string
	bytes  int
}

// Read reads a message, with the metadata of its request.
func Read(m *a2a.Message, meta map[string]any) Said {
	s := Said{beside: map[string]vote{}}
	s.value(meta, 0)
	s.value(m.Metadata, 0)
	for _, part := range m.Parts {
		if text := part.Text(); text != "" {
			s.bytes += len(text)
			s.text += text + "\n"
		}
		s.value(part.Data(), 0)
	}
	if s.bytes > mostSaid {
		return Said{}
	}
	words := wordsOf(s.text)
	decided := slices.ContainsFunc(words, func(word string) bool { return past[word] || lapses[word] })
	if s.all == (vote{}) && !decided {
		return Said{}
	}
	for _, word := range strings.FieldsFunc(s.text, func(r rune) bool { return !isOfID(r) }) {
		if decided && strings.ContainsAny(word, "0123456789") {
			s.name(word)
		}
	}
	return s
}

func (s *Said) name(word string) {
	if len(word) >= shortest && len(s.Names) < mostNames && !slices.Contains(s.Names, word) {
		s.Names = append(s.Names, word)
	}
}

func isOfID(r rune) bool {
	return r == '-' || r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// history is the member that has what was said before, other decisions among it.
const history = "history"

// value reads a value of JSON.
func (s *Said) value(value any, depth int) {
	if depth > mostDepth || s.bytes > mostSaid {
		s.all.unsure = true // what stands there may speak against it
		return
	}
	switch value := value.(type) {
	case map[string]any:
		s.object(value, depth)
	case []any:
		for _, one := range value {
			s.value(one, depth+1)
		}
	case string:
		s.bytes += len(value)
		s.prose = append(s.prose, value)
	}
}

// object reads the members of one object, in their order.
func (s *Said) object(members map[string]any, depth int) {
	var v vote
	keys := slices.SortedFunc(maps.Keys(members), func(a, b string) int {
		if isName(a) != isName(b) {
			return map[bool]int{true: -1, false: 1}[isName(a)]
		}
		return cmp.Compare(a, b)
	})
	for _, key := range keys {
		if key == history {
			continue
		}
		s.bytes += len(key)
		v.member(key, members[key])
	}
	s.all.add(v)
	for _, name := range namesIn(members) {
		if s.name(name); slices.Contains(s.Names, name) {
			known := s.beside[name]
			known.add(v)
			s.beside[name] = known
		}
	}
	for _, key := range keys {
		if key != history {
			s.value(members[key], depth+1)
		}
	}
}

// namesIn are the ids of the requests that an object is about: one of its own, or of the request in it.
func namesIn(members map[string]any) (names []string) {
	for _, key := range slices.Sorted(maps.Keys(members)) {
		switch value := members[key].(type) {
		case string:
			if isName(key) {
				names = append(names, strings.TrimSpace(value))
			}
		case map[string]any:
			if id, ok := value["id"].(string); ok && key != "id" && isName(key) {
				names = append(names, strings.TrimSpace(id))
			}
		}
	}
	return names
}

// isName reports whether a member has the name of one that has a request's id.
func isName(key string) bool {
	key = strings.ToLower(key)
	return key == "id" || strings.HasPrefix(key, "request") || strings.HasPrefix(key, "approval")
}

// member reads a member by its name, what is below it aside.
func (v *vote) member(key string, value any) {
	words := partsOf(key)
	if len(words) == 0 {
		return
	}
	text, isText := value.(string)
	switch last := words[len(words)-1]; {
	case deciding[last] && isText:
		v.decides(text)
	case deciding[last]:
		v.unsure = true
	case (last == "by" || last == "decider") && isText:
		v.decider(text)
	}
	if value == nil || value == false || text == "" && isText {
		v.no = v.no || len(words) == 1 && yes[words[0]] && value == false
		v.unsure = v.unsure || len(words) == 1 && yes[words[0]] && value != false
		return
	}
	for _, word := range words {
		switch {
		case value == true && len(words) == 1 && yes[word]:
			v.yes = true
		case value == true && len(words) == 1 && no[word]:
			v.no = true
		case value == true && lapses[word]:
			v.lapsed = true
		case no[word], undoes[word], value == true && doubts[word], len(words) == 1 && yes[word]:
			v.unsure = true
		}
	}
}

// deciding are the names of members that say what was decided.
//
//nolint:gochecknoglobals // a constant
var deciding = setOf("decision status state outcome verdict resolution")

// partsOf are the words of a name, as in decidedBy and decided_by.
func partsOf(key string) []string {
	var spaced strings.Builder
	for i, r := range key {
		if i > 0 && unicode.IsUpper(r) && !strings.HasSuffix(spaced.String(), " ") && unicode.IsLower(rune(key[i-1])) {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(r)
	}
	return wordsOf(spaced.String())
}

// Decision is what the message decides of the request with that name; [Pending] is nothing. What it repeats of
// the request says nothing.
func (s Said) Decision(name string, of Request) State {
	v := s.beside[name]
	v.add(s.inText(name, of))
	if v.state() == Pending {
		return Pending
	}
	v.add(s.all)
	state := v.state()
	for _, said := range append(s.prose, s.text) {
		rest := of.without(said)
		if strings.ContainsAny(rest, "？؟") || strings.Contains(rest+" ", "? ") || slices.ContainsFunc(wordsOf(rest), state.isDoubtedBy) {
			return Pending
		}
	}
	return state
}

// isDoubtedBy reports whether a word beside a decision speaks against it.
func (s State) isDoubtedBy(word string) bool {
	if s != Approved {
		return yes[word]
	}
	return no[word] || undoes[word] || doubts[word] || lapses[word] || strings.ContainsAny(word, "'’")
}

// beginning is how much of a request's words is known for its beginning, where the rest is cut off.
const beginning = 24

// without takes the request's words out of a text, or leaves nothing of one that is no more than their beginning.
func (r Request) without(text string) string {
	text = plain(text)
	for _, said := range []string{plain(r.Detail), plain(r.Title)} {
		if head := strings.TrimRight(text, ".… "); len(head) >= beginning && strings.HasPrefix(said, head) {
			return ""
		}
		if said != "" {
			text = strings.Replace(text, said, " ", 1)
		}
	}
	return strings.TrimSpace(text)
}

// plain is a text without what a platform makes of it to show it.
func plain(text string) string { return strings.Join(strings.Fields(html.UnescapeString(text)), " ") }
