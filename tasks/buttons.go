package tasks

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
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

// Decide answers a question of a task as its user who has pressed a button. Under one name it is one
// answer. It is an error where the question cannot be answered now: an answer to it is under way, it has
// just been closed, or the task is being left to the next process.
func (e *Engine) Decide(ctx context.Context, task, question, name string, accept bool) error {
	t := e.live.find(a2a.TaskID(task))
	if t == nil || !t.hasOpen(question) {
		return errNotOpen
	}
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewDataPart(decisionData(question, accept)))
	message.ID, message.TaskID = name, t.id
	message.Metadata = map[string]any{"source": "canvas_user"}
	_, err := e.SendMessage(ctx, &a2a.SendMessageRequest{Message: message, Config: &a2a.SendMessageConfig{ReturnImmediately: true}})
	return err
}

var errNotOpen = errors.New("the question cannot be answered now")

func decisionData(question string, accept bool) map[string]any {
	decision := agent.Decline
	if accept {
		decision = agent.Accept
	}
	return map[string]any{"id": question, "decision": decision}
}

// A press is the decision on a request that a message brings.
type press struct{ task, question string }

// press reads a message that may bring the decision on a request of ours. What it decides is made the
// answer of the user's that names the question; what was decided before is a command, which is answered
// in words. Another agent's, a chat's and the workspace's own are none: words of agents stand in those.
func (e *Engine) press(ctx context.Context, req *a2a.SendMessageRequest, in *incoming) {
	w := e.cfg.Workspace
	if w.Requests == nil || in.key.Task != "" || in.command != "" || !passesOn(in.from, req) {
		return
	}
	m := req.Message
	if in.from.Kind == origin.Event { // its words are a stranger's
		m = &a2a.Message{Metadata: m.Metadata}
	}
	said := requests.Read(m, req.Metadata)
	name, of, found := "", store.Delivery{}, 0
	for _, id := range said.Names {
		row, err := e.cfg.Journal.SentTo(ctx, requests.Kind, requests.Sent(id))
		if err != nil && !errors.Is(err, store.ErrUnknown) {
			e.log.Error("a request to the user could not be looked up", "err", err)
			return
		}
		if err == nil && w.areOne(row.Conversation, in.message.ContextID) {
			name, of, found = id, row, found+1
		}
	}
	if found == 1 { // one about several is words
		e.pressed(ctx, in, said, name, of)
	}
}

// passesOn reports whether the user, or the platform for the user, sends a message.
func passesOn(from origin.Sender, req *a2a.SendMessageRequest) bool {
	own := origin.Said(req.Message.Metadata, "source_type") != nil || origin.Said(req.Metadata, "source_type") != nil
	return !from.IsApart() && (from.Kind != origin.Platform || !own)
}

// areOne reports whether two conversations are of one workspace: the buttons of one are not another's user's.
func (w *Workspace) areOne(a, b string) bool {
	return w.Of == nil || w.Of(a) >= 0 && w.Of(a) == w.Of(b)
}

func (e *Engine) pressed(ctx context.Context, in *incoming, said requests.Said, name string, row store.Delivery) {
	var of requests.Request
	if whole, err := e.cfg.Journal.Delivery(ctx, row.ID); err == nil {
		of, _ = requests.Decode(whole.Body)
	}
	state := said.Decision(name, of)
	if state == requests.Pending {
		return
	}
	t := e.live.find(a2a.TaskID(row.Task))
	switch open := of.Question != "" && t != nil && t.hasOpen(of.Question); {
	case !open:
		in.obeys(commandPressed, pressedKey)
	case state == requests.Lapsed:
		if err := e.cfg.Journal.AimDelivery(ctx, row.ID, ""); err != nil {
			e.log.Error("a request to the user whose time is up could not be put up again", "err", err)
		}
		e.cfg.Workspace.Requests()
		in.obeys(commandTimeUp, timeUpKey)
	default:
		accept, m := state == requests.Approved, *in.message
		m.Parts = a2a.ContentParts{a2a.NewDataPart(decisionData(of.Question, accept))}
		in.message, in.press, in.from = &m, &press{row.Task, of.Question}, origin.Sender{Kind: origin.User}
		e.log.Info("the user has decided by a button", "task_id", row.Task, "accept", accept)
	}
}

// obeys makes a message a command, with a mark for the next process, which sees the message only.
func (in *incoming) obeys(command, key string) {
	m := *in.message
	m.Metadata = maps.Clone(m.Metadata)
	m.SetMeta(key, true)
	in.message, in.command = &m, command
}

// What tells of a request that was settled before, or whose time is up, is answered without codex.
const (
	commandPressed = "request_settled"
	pressedKey     = "requestSettled"
	pressedText    = "That was settled already, so the button did nothing."

	commandTimeUp = "request_time_up"
	timeUpKey     = "requestTimeUp"
	timeUpText    = "The time for the buttons was up before one was pressed. That decides nothing: what codex asks is still open."
)
