package executor

import (
	"encoding/json"
	"maps"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// A kind is a way in which codex asks: one row of the table below.
type kind struct {
	// read takes the request's body apart. A body that cannot be read is declined.
	read func(params json.RawMessage) (matter, error)
	// refusal is the answer where nobody can be asked, or nobody has answered: the
	// one that lets codex do nothing.
	refusal any
}

// terms are what a "yes" can be to, whoever says it.
type terms struct {
	rules bool // as in [Config]
	// unfit says of paths why they are not opened for writing. Nil has nothing against any.
	unfit func(paths []string) map[string]string
}

// kindOf returns the kind of a request that a person can answer. This is the
// table of questions.
func kindOf(method string, on terms) (kind, bool) {
	switch method {
	case "item/commandExecution/requestApproval":
		return kind{on.readCommand, decision("decline")}, true
	case "item/fileChange/requestApproval":
		return kind{on.readFileChange, decision("decline")}, true
	case "item/permissions/requestApproval":
		return kind{on.readPermissions, granted(map[string]any{}, "turn")}, true
	case "item/tool/requestUserInput":
		return kind{readUserInput, inputAnswers(nil)}, true
	case "mcpServer/elicitation/request":
		return kind{readElicitation, elicited("decline", nil)}, true
	}
	return kind{}, false
}

// A matter is what a question is about.
type matter interface {
	// pose says it in words and as data.
	pose(*posing) posed
	// answer makes codex's answer of a message, or returns a [agent.NotUnderstoodError].
	answer(agent.Answer) (reply, error)
	// grant is the answer of an operator who allows everything.
	grant() any
}

// A posed question is shown to people and programs.
type posed struct {
	kind    string
	text    string         // the question
	accepts string         // the answers, as an imperative: "Answer yes or no."
	data    map[string]any // beside the members that all kinds have
	notes   []string       // sentences of ours that stand in the text, and that data says nothing of otherwise
	places  []place        // whose whereabouts are part of what is asked
	opens   []string       // paths that a "yes" lets commands write
	unseen  string         // what codex asks whether it may, where a "yes" would be to what is not shown: it is not asked
	users   bool           // it is shown to nobody but the user: whoever carries it out brings in an account of theirs
	barred  string         // why nobody can say "yes" to it: it is not asked
	large   bool           // it wants more to be filled in or opened than is shown: it is not asked
}

// A reply is what codex is told.
type reply struct {
	value any
	ends  bool   // codex ends the turn over it
	lasts bool   // it is leave for more than this once
	less  string // why it is less than was said, for its sender; such a choice is taken, and not offered
}

// asked makes an event of a question that has its id. The turn calls it.
func (q *question) asked(with posing) (agent.Question, posed) {
	p := q.matter.pose(&with)
	q.cut.Store(with.cut)
	p.text += with.remarks()
	data := map[string]any{"type": "question", "id": q.id, "kind": p.kind}
	maps.Copy(data, p.data)
	if len(p.notes) > 0 {
		data["notes"] = p.notes
	}
	if with.hid {
		data["hidden"] = true
	}
	if with.cut {
		data["cut"] = true
	}
	if !q.deadline.IsZero() {
		at := q.deadline.UTC().Truncate(time.Second)
		data["deadline"] = at.Format(time.RFC3339)
		p.accepts += at.Format(" Without an answer by 2006-01-02 15:04:05 UTC it is declined.")
	}
	return agent.Question{ID: q.id, Kind: p.kind, Text: p.text, Accepts: p.accepts, Data: data, Deadline: q.deadline}, p
}

// read decodes the body of a request.
func read[T any](params json.RawMessage) (body T, err error) {
	err = json.Unmarshal(params, &body)
	return body, err
}
