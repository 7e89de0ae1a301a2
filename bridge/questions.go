package bridge

import (
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A Question is one that a task waits for an answer to.
type Question struct {
	RequestID string         `json:"request_id"`
	Method    string         `json:"method"` // what is asked for, as codex calls it
	Payload   map[string]any `json:"payload"`
	Status    string         `json:"status"`
	CreatedAt float64        `json:"created_at"`

	words string // the question as people read it, with the answers that it takes
}

// The kinds of questions that are not settled by a decision.
const (
	kindInput = "input"
	kindForm  = "form"
)

// methodOf is codex's name of a kind of question. This is the table of kinds.
func methodOf(kind string) string {
	switch kind {
	case "command":
		return "item/commandExecution/requestApproval"
	case "fileChange":
		return "item/fileChange/requestApproval"
	case "permissions":
		return "item/permissions/requestApproval"
	case kindInput:
		return "item/tool/requestUserInput"
	case kindForm, "tool", "link":
		return "mcpServer/elicitation/request"
	}
	return kind
}

// Questions returns the open questions of a status, the oldest first.
func Questions(status a2a.TaskStatus) []Question {
	open := []Question{}
	if status.State != a2a.TaskStateInputRequired || status.Message == nil {
		return open
	}
	words := ""
	for _, p := range status.Message.Parts {
		data, _ := p.Data().(map[string]any)
		id, ok := data["id"]
		if !ok {
			words = orElse(p.Text(), words)
			continue
		}
		kind, _ := data["kind"].(string)
		open = append(open, Question{
			RequestID: fmt.Sprint(id), Method: methodOf(kind), Payload: data, Status: "pending", CreatedAt: seconds(status.Timestamp),
			words: words,
		})
		words = "" // each question has words of its own in front of its data
	}
	return open
}

// Stale reports whether the turn that has asked is gone, with the runtime of then.
func (q Question) Stale() bool {
	stale, _ := q.Payload["stale"].(bool)
	return stale
}

// Words is the question as people read it, with the answers that it takes.
func (q Question) Words() string { return orElse(q.words, q.Method) }

func (q Question) kind() string {
	kind, _ := q.Payload["kind"].(string)
	return kind
}

// waits is the status of a task that waits for an answer to the question.
func (q Question) waits() string {
	if kind := q.kind(); kind == kindInput || kind == kindForm {
		return WaitingInput
	}
	return WaitingApproval
}

// answer is the data part that answers the question. Where answers are asked for and
// there are none, a decision says so.
func (q Question) answer(decision string, answers map[string]any) map[string]any {
	data := map[string]any{"id": q.Payload["id"]}
	switch kind := q.kind(); {
	case kind == kindInput && answers != nil:
		data["answers"] = answers
	case kind == kindInput:
		data["decision"] = defaultDecision
	case kind == kindForm && answers != nil:
		data["content"] = plain(answers)
	default:
		data["decision"] = decision
	}
	return data
}

// plain takes values out of the shape that answers to questions have.
func plain(answers map[string]any) map[string]any {
	content := map[string]any{}
	for name, value := range answers {
		if object, ok := value.(map[string]any); ok {
			if list, ok := object["answers"].([]any); ok && len(list) == 1 {
				value = list[0]
			}
		}
		content[name] = value
	}
	return content
}
