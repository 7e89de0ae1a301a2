package ask

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// A subject is what a request is about.
type subject interface {
	// pose says it in words and as data.
	pose(*draft) Posed
	// answer makes codex's answer of a message, or returns a [agent.NotUnderstoodError].
	answer(agent.Answer) (Reply, error)
	// grant is the answer of an operator who allows everything.
	grant() any
}

// A Reply is what codex is told.
type Reply struct {
	Value any    // of JSON
	Ends  bool   // codex ends the turn over it
	Less  string // why it is less than was said, for its sender; such a choice is taken, and not offered

	lasts bool // it is leave for more than this once
}

// A Posed question is shown to people and programs.
type Posed struct {
	Places []Place  // whose whereabouts are part of what is asked
	Opens  []string // paths that a "yes" lets commands write

	subject subject // that is asked about, where it is another than the request says
	kind    string
	text    string         // the question
	accepts string         // the answers, as an imperative: "Answer yes or no."
	data    map[string]any // beside the members that all kinds have
	notes   []string       // sentences of ours that stand in the text, and that data says nothing of otherwise
	hid     bool           // a secret was taken out
	cut     bool           // not all is shown
	unseen  string         // what codex asks whether it may, where a "yes" would be to what is not shown: it is not asked
	users   bool           // it is shown to the user alone, whose account it brings in
	barred  string         // why nobody can say "yes" to it: it is not asked
	large   bool           // it wants more to be filled in or opened than is shown: it is not asked
}

// Question returns the question under an id. A deadline of zero is none.
func (p Posed) Question(id string, deadline time.Time) agent.Question {
	data := map[string]any{"type": "question", "id": id, "kind": p.kind}
	maps.Copy(data, p.data)
	if len(p.notes) > 0 {
		data["notes"] = p.notes
	}
	if p.hid {
		data["hidden"] = true
	}
	if p.cut {
		data["cut"] = true
	}
	accepts := p.accepts
	if !deadline.IsZero() {
		at := deadline.UTC().Truncate(time.Second)
		data["deadline"] = at.Format(time.RFC3339)
		accepts += at.Format(" Without an answer by 2006-01-02 15:04:05 UTC it is declined.")
	}
	return agent.Question{ID: id, Kind: p.kind, Text: p.text, Accepts: accepts, Data: data, Deadline: deadline}
}

// Bytes is how many a question has.
func (p Posed) Bytes() int {
	data, _ := json.Marshal(p.data)
	return len(p.text) + len(data)
}

// Answer makes codex's answer of a message. A [agent.NotUnderstoodError] leaves the question open.
func (p Posed) Answer(a agent.Answer) (Reply, error) {
	if a.Files { // codex takes none with an answer
		return Reply{}, agent.NotUnderstood("A file is no part of an answer. Answer without it, and send it with a message of its own after that.")
	}
	reply, err := p.subject.answer(a)
	if err != nil {
		return Reply{}, err
	}
	if reply.lasts && p.cut {
		return Reply{}, agent.NotUnderstood("Not all of what is asked is shown, so it can be allowed for this once only.")
	}
	return reply, nil
}

// Unaskable says why it is declined without a question: to the sender of the message, and to the
// log. Both are empty where it is asked. peer says that the sender is another agent.
func (p Posed) Unaskable(peer bool) (notice, why string) {
	switch {
	case p.unseen != "":
		return fmt.Sprintf(unseenAsked, p.unseen), "what would be allowed cannot be shown"
	case p.barred != "":
		return fmt.Sprintf(barredAsked, p.barred), "commands could lead elsewhere what would be allowed"
	case p.large:
		return largeAsked, "it is too large to be shown"
	case p.users && peer:
		return usersAsked, "it is for the user, and the message is another agent's"
	}
	return "", ""
}

// barredAsked is what the sender of a message reads whose turn asks to write where commands
// could then lead it elsewhere.
const barredAsked = "codex asked whether it may write where that cannot be allowed. It was declined without a question: %s. codex goes on without it."

// unseenAsked is what the sender of a message reads whose turn asks for what cannot be shown.
const unseenAsked = "codex asked whether it may %s. It was declined without a question, for what would be allowed is not known here, or is too much to be shown. " +
	"codex goes on without it; it can be told to try again in another way."

// largeAsked is what the sender of a message reads whose turn has too much to be filled in.
const largeAsked = "codex, or an MCP server, asked for something in more than 128 KiB. It was declined without a question. codex goes on without it; it can be told to ask for less at once."

// usersAsked is what another agent reads in the place of a page that is to be opened.
const usersAsked = "An MCP server wants a page to be opened. It was declined without a question: the page is for the user of this agent, and this message is not that user's. " +
	"codex goes on without it; where a message of the user's needs the page, it is shown there."
