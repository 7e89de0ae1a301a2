package bridge

import (
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// A Question is one that a task waits for an answer to.
type Question struct {
	RequestID string         `json:"request_id"`
	Method    string         `json:"method"` // what is asked for, as codex calls it
	Payload   map[string]any `json:"payload"`
	Status    string         `json:"status"`
	CreatedAt float64        `json:"created_at"`
}

// methodOf is codex's name of a kind of question. This is the table of kinds.
func methodOf(kind string) string {
	switch kind {
	case "command":
		return "item/commandExecution/requestApproval"
	case "fileChange":
		return "item/fileChange/requestApproval"
	case "permissions":
		return "item/permissions/requestApproval"
	case "userInput":
		return methodInput
	case "elicitation":
		return "mcpServer/elicitation/request"
	}
	return kind
}

const methodInput = "item/tool/requestUserInput"

// questionsOf returns the open questions of a status, the oldest first.
func questionsOf(status a2a.TaskStatus) []Question {
	open := []Question{}
	if status.State != a2a.TaskStateInputRequired || status.Message == nil {
		return open
	}
	for _, p := range status.Message.Parts {
		data, _ := p.Data().(map[string]any)
		id, ok := data["id"]
		if !ok {
			continue
		}
		kind, _ := data["kind"].(string)
		open = append(open, Question{
			RequestID: fmt.Sprint(id), Method: methodOf(kind), Payload: data, Status: "pending", CreatedAt: seconds(status.Timestamp),
		})
	}
	return open
}

// waits is the status of a task that waits for an answer to the question.
func (q Question) waits() string {
	kind, _ := q.Payload["kind"].(string)
	_, fields := q.Payload["questions"]
	_, schema := q.Payload["schema"]
	if q.Method == methodInput || fields || schema || strings.Contains(strings.ToLower(kind), "input") {
		return WaitingInput
	}
	return WaitingApproval
}

// answer is the data part that answers the question.
func (q Question) answer(decision string, answers map[string]any) map[string]any {
	data := map[string]any{"id": q.Payload["id"]}
	switch {
	case q.Method == methodInput:
		if answers == nil {
			answers = map[string]any{}
		}
		data["answers"] = answers
	case answers != nil:
		data["decision"], data["content"] = decision, answers
	default:
		data["decision"] = decision
	}
	return data
}
