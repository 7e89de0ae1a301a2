package ask

import (
	"encoding/json"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// A Request is one request of codex's that a person can answer.
type Request struct {
	Key string // the id by which codex keeps it; empty if it says none

	subject subject
	refusal any
}

// Read takes the params of a request apart. known is false where no person can answer such a
// method. A request that cannot be read has its Refusal only.
func Read(method string, params json.RawMessage, on Terms) (r Request, known bool, err error) {
	var read func(json.RawMessage) (subject, error)
	switch method {
	case "item/commandExecution/requestApproval":
		read, r.refusal = on.readCommand, decision(agent.Decline)
	case "item/fileChange/requestApproval":
		read, r.refusal = on.readFileChange, decision(agent.Decline)
	case "item/permissions/requestApproval":
		read, r.refusal = on.readPermissions, granted(map[string]any{}, "turn")
	case "item/tool/requestUserInput":
		read, r.refusal = readUserInput, inputAnswers(nil)
	case "mcpServer/elicitation/request":
		read, r.refusal = readElicitation, elicited(agent.Decline, nil)
	default:
		return Request{}, false, nil
	}
	r.Key = keyOf(params)
	r.subject, err = read(params)
	return r, true, err
}

// Refusal is the answer where no question is put, or none is answered: the one that lets codex do
// nothing.
func (r Request) Refusal() any { return r.refusal }

// Grant is the answer of an operator who allows everything.
func (r Request) Grant() any { return r.subject.grant() }

// Pose puts the request into words and data.
func (r Request) Pose(with View) Posed {
	d := &draft{View: with}
	p := r.subject.pose(d)
	p.text += d.remarks()
	p.hid, p.cut = d.hid, d.cut
	if p.subject == nil {
		p.subject = r.subject
	}
	return p
}

// keyOf returns the id by which codex keeps a request.
func keyOf(params json.RawMessage) string {
	body, err := decode[struct {
		ApprovalID string `json:"approvalId"` // where one call asks several times at once
		ItemID     string `json:"itemId"`
	}](params)
	switch {
	case err != nil:
		return ""
	case body.ApprovalID != "":
		return body.ApprovalID
	}
	return body.ItemID
}
