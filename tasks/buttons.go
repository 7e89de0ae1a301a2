package tasks

import (
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/requests"
)

// What codex asks in the user's conversations stands on the canvas with two buttons, too (package
// requests). A press is a message of the user's that names the question, so all that holds of those
// holds of it.

// mostDetail is how long a question may be that has buttons: they are pressed by what stands above
// them, and the rest of a longer one would be allowed unread.
const mostDetail = 4 << 10

// titles are what the user is asked, by the kind of the question. Two buttons cannot answer others. The
// model's words stand below, so that they are never taken for what the platform says of a decision.
//
//nolint:gochecknoglobals // a constant
var titles = map[string]string{
	"command":     "codex asks whether it may run a command",
	"fileChange":  "codex asks whether it may change files",
	"permissions": "codex asks for more permissions",
	"tool":        "codex asks whether it may call a tool",
	"link":        "codex asks you to open a page",
}

// request puts a question that the run has asked into the outbox as a request to the user. A question in
// the turn of another agent or a chat has none: the buttons are the user's, and the sender of a turn's
// message has a say in the words above them.
func (r *run) request(q *question) {
	t := r.task
	w := t.engine.cfg.Workspace
	if w == nil || w.Requests == nil || t.forPeer(r.from) || t.mute(r.from) {
		return
	}
	title, ok := titles[q.asked.Kind]
	choices, _ := q.asked.Data["choices"].([]any)
	if !ok || !slices.Contains(choices, any(agent.Accept)) || !slices.Contains(choices, any(agent.Decline)) || q.asked.Data["cut"] == true {
		return
	}
	detail := q.asked.Text + "\n\nApprove is a yes to this, once, and Deny a no. In the chat: " + q.asked.Accepts
	if w.Redact != nil {
		detail = w.Redact(detail)
	}
	if len(detail) > mostDetail {
		return
	}
	t.send(requests.Request{Question: q.asked.ID, Title: title, Detail: detail}.Delivery())
}
