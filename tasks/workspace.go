package tasks

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
)

// A Workspace is what the engine knows of the workspace that it works for. The zero
// value of each field works.
type Workspace struct {
	// Steer has the messages of the workspace's user become part of the turn that runs
	// in their conversation. Those of other agents wait: each of them asked for
	// something else.
	Steer bool
	// Redact takes secrets out of what the platform shows.
	Redact func(string) string
	// Wake is called when there is a late reply to deliver. It must not block. Without it
	// nobody delivers what is said to the user and is no reply.
	Wake func()
	// Posts has replies reach the user some time after they were made, by others who send them and say
	// so by [Engine.Telling]. A question counts as read from then on.
	Posts bool
}

// marked reports whether the message is of a platform that says who its user is: it
// also shows him the answer to a message that it has sent a second time.
func marked(req *a2a.SendMessageRequest) bool {
	return req.Metadata["source"] == "canvas_user" || req.Message.Metadata["source"] == "canvas_user"
}

// classify notes who sent a message, and for whom its answer is.
func (e *Engine) classify(ctx context.Context, req *a2a.SendMessageRequest, in *incoming, patient bool) {
	if e.cfg.Workspace == nil {
		return
	}
	e.mark(req, in)
	if in.from.Kind == origin.Event { // it is for the user to stop what runs there
		in.command = ""
	}
	if in.from.IsPeer() {
		return
	}
	if restartIn(in.message.Metadata) != "" || restartIn(req.Metadata) != "" {
		in.command = commandRestarted
		m := *in.message // for the next process, which sees the message only
		m.Metadata = maps.Clone(m.Metadata)
		m.SetMeta(restartKey, restartKind)
		in.message = &m
		return
	}
	if !patient && in.from.Kind != origin.Platform {
		in.receipt = ReceiptOf(ctx)
		in.receipt.note(in.from, marked(req))
	}
}

// steers reports whether a message that names no task goes into the turn that runs in
// its conversation.
func (e *Engine) steers(in *incoming) bool {
	return e.cfg.MidTurn || e.cfg.Workspace != nil && e.cfg.Workspace.Steer && in.from.Kind == origin.User
}

// conversation is that of a message that names a context, or none; "" if those that
// name none have no conversation in common.
func (e *Engine) conversation(in *incoming) string {
	given := in.key.Context
	if in.from.IsApart() {
		return in.from.Conversation(given, e.cfg.Main)
	}
	return e.cfg.Threads(given, cmp.Or(given, e.cfg.Main))
}

// aside gives a message of another agent a conversation of its own where the one that
// it belongs to waits for an agent: they would wait for each other.
func (e *Engine) aside(in *incoming, conversation string) string {
	if e.cfg.Workspace == nil || in.from.Kind != origin.Anybody && !in.from.IsPeer() ||
		!slices.ContainsFunc(e.ofConversation(conversation), func(t *task) bool { return t.conversation == conversation && t.delegates() }) {
		return conversation
	}
	return conversation + asideOf + a2a.NewContextID()
}

// asideOf is between the name of a conversation and what is its own in that of one that went aside of it.
const asideOf = "/aside/"

// isOf reports whether the task is of a conversation, in it or aside of it: its /stop and /status
// reach both.
func (t *task) isOf(conversation string) bool {
	return t.conversation == conversation || conversation != "" && t.asideFrom() == conversation
}

// asideFrom is the conversation that the task went aside of, "" if it did of none.
func (t *task) asideFrom() string { return t.engine.asideFrom(t.conversation) }

// asideFrom is the conversation that another went aside of, "" if it did of none.
func (e *Engine) asideFrom(conversation string) string {
	i := strings.LastIndex(conversation, asideOf)
	if i < 0 || e.cfg.Workspace == nil || uuid.Validate(conversation[i+len(asideOf):]) != nil {
		return ""
	}
	return conversation[:i]
}

// delegateTool is the tool whose call lasts until another agent has answered.
const delegateTool = "delegate_task"

// delegate notes that such a call has begun, or is over. The caller holds t.mu.
func (r *run) delegate(item agent.Item, begun bool) {
	if item.Tool != delegateTool {
		return
	}
	if r.delegations == nil {
		r.delegations = map[string]bool{}
	}
	if r.delegations[item.ID] = true; !begun {
		delete(r.delegations, item.ID)
	}
}

// delegates reports whether a turn of the task waits for another agent. A message of an
// agent that comes meanwhile must not wait for that turn: it may be what the other needs.
func (t *task) delegates() bool {
	t.lock()
	defer t.unlock()
	return slices.ContainsFunc(t.runs, func(r *run) bool { return len(r.delegations) > 0 })
}

// addressed is the task as the sender of a message sees it: it may have become part of
// one that another context began.
func addressed(task *a2a.Task, given string) *a2a.Task {
	if given == "" || given == task.ContextID {
		return task
	}
	out := *task
	out.ContextID = given
	return &out
}

// nothing answers a message that says nothing.
func (e *Engine) nothing(req *a2a.SendMessageRequest) *a2a.Message {
	m, main := req.Message, e.cfg.Main
	if from := e.sender(m, req.Metadata); from.IsApart() {
		main = from.Conversation("", main)
	}
	out := a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(emptyMessage))
	out.ID, out.ContextID = m.ID+"-reply", cmp.Or(m.ContextID, main)
	return out
}

// emptyMessage is what users of the platform are told.
const emptyMessage = "Your message was empty. Please send text or a file with instructions."

// commandRestarted is the message by which the platform tells that it has started the
// workspace anew. Codex need not be asked about it: its threads went on.
const commandRestarted = "restart_context"

const (
	restartKey  = "kind"
	restartKind = "restart_context"

	restartedText = "The workspace is back after its restart. Its conversations go on where they were."
)

// restartIn returns the command that the metadata of a message make it, or "".
func restartIn(meta map[string]any) string {
	if meta[restartKey] == restartKind {
		return commandRestarted
	}
	return ""
}
