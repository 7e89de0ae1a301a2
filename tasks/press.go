package tasks

import (
	"context"
	"errors"
	"maps"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/requests"
)

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

func decisionData(question string, accept bool) map[string]any {
	decision := agent.Decline
	if accept {
		decision = agent.Accept
	}
	return map[string]any{"id": question, "decision": decision}
}
