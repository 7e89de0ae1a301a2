package requests

import (
	"slices"
	"strings"
	"unicode"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// How the platform words a decision that it sends was never measured. So it is looked for wherever it
// can stand, and taken only where nothing speaks against it: a message that names a request and may
// mean anything else is words like any.

// What a message says of requests is short: what has more is read by codex.
const (
	mostSaid  = 16 << 10 // bytes
	mostDepth = 8
	mostNames = 16
	shortest  = 16 // bytes of an id that cannot be guessed
)

// A Said is what a message says, as far as it may be about requests.
type Said struct {
	Names []string // that may be ids of requests
	vote  vote     // of the members of its data and metadata
	text  string
	bytes int
}

// Read reads a message, with the metadata of its request.
func Read(m *a2a.Message, meta map[string]any) Said {
	var s Said
	s.member("", meta, 0)
	s.member("", m.Metadata, 0)
	for _, part := range m.Parts {
		if text := part.Text(); text != "" {
			if s.say(text); s.bytes <= mostSaid {
				s.text += text + "\n"
			}
		}
		s.member("", part.Data(), 0)
	}
	if s.bytes > mostSaid {
		return Said{}
	}
	if words := votesIn(s.text); s.vote == (vote{}) && !words.yes && !words.no { // it decides nothing
		return Said{}
	}
	return s
}

// history is the member that has what was said before, other decisions among it.
const history = "history"

// say takes the ids out of a text.
func (s *Said) say(text string) {
	if s.bytes += len(text); s.bytes > mostSaid {
		return
	}
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !isOfID(r) }) {
		if len(word) >= shortest && strings.ContainsAny(word, "0123456789") && len(s.Names) < mostNames && !slices.Contains(s.Names, word) {
			s.Names = append(s.Names, word)
		}
	}
}

func isOfID(r rune) bool {
	return r == '-' || r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// member reads a value of JSON under its name.
func (s *Said) member(name string, value any, depth int) {
	if depth > mostDepth || s.bytes > mostSaid {
		return
	}
	s.bytes += len(name)
	switch value := value.(type) {
	case map[string]any:
		for key, one := range value {
			if key != history {
				s.member(key, one, depth+1)
			}
		}
	case []any:
		for _, one := range value {
			s.member(name, one, depth+1)
		}
	case string:
		s.say(value)
		if decides(name) {
			s.vote.add(strings.ToLower(strings.TrimSpace(value)))
		}
	case bool:
		if word := strings.ToLower(name); value {
			s.vote.add(word)
		} else if yes[word] || no[word] {
			s.vote.yes, s.vote.no = s.vote.yes || no[word], s.vote.no || yes[word]
		}
	}
}

// decides reports whether a member has the name of one that says what was decided.
func decides(name string) bool {
	switch strings.ToLower(name) {
	case "decision", "status", "state", "outcome", "result", "response", "answer", "action", "verdict":
		return true
	}
	return false
}

// A vote is what words say for and against.
type vote struct {
	yes, no bool
	unsure  bool // they are in words that may mean something else
}

func (v *vote) add(word string) { v.yes, v.no = v.yes || yes[word], v.no || no[word] }

// The words that decide. That something was done, or is ok, does not say what was decided.
//
//nolint:gochecknoglobals // constants
var (
	yes = setOf("approved", "approve", "approves", "accepted", "accept", "accepts", "allowed", "granted")
	no  = setOf("denied", "deny", "denies", "rejected", "reject", "rejects", "declined", "decline", "declines", "refused", "disapproved")
	// open are words beside which those decide nothing.
	open = setOf("not", "never", "cannot", "pending", "if", "whether", "should", "unless", "please", "waiting", "until")
)

func setOf(words ...string) map[string]bool {
	set := map[string]bool{}
	for _, word := range words {
		set[word] = true
	}
	return set
}

// Decision is what the message decides, if it does. What it repeats of the request says nothing.
func (s Said) Decision(of Request) (accept, ok bool) {
	all := s.vote
	words := votesIn(without(s.text, of))
	if words.unsure && (words.yes || words.no) {
		return false, false
	}
	all.yes, all.no = all.yes || words.yes, all.no || words.no
	ok = all.yes != all.no
	return ok && all.yes, ok
}

// votesIn is what the words of a text say, each by itself.
func votesIn(text string) (v vote) {
	v.unsure = strings.ContainsAny(text, "?？؟")
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
		v.add(word)
		v.unsure = v.unsure || open[word] || strings.ContainsAny(word, "'’")
	}
	return v
}

// beginning is how much of a request's words is known for its beginning, where the rest is cut off.
const beginning = 24

// without takes what a text repeats of a request out of it.
func without(text string, of Request) string {
	text = " " + strings.Join(strings.Fields(text), " ") + " "
	for _, said := range []string{of.Detail, of.Title} {
		said = strings.Join(strings.Fields(said), " ")
		if said == "" {
			continue
		}
		text = strings.ReplaceAll(text, said, " ")
		if head := said[:min(len(said), beginning)]; strings.Contains(text, head) {
			text, _, _ = strings.Cut(text, head)
		}
	}
	return text
}
