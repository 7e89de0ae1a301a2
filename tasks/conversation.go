package tasks

import (
	"cmp"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
)

// OfPeer reports whether a conversation is one with another agent, or with a chat. Only a
// workspace has those; elsewhere a caller may call one of its own so.
func (e *Engine) OfPeer(conversation string) bool {
	return e.cfg.Workspace != nil && origin.NamesPeer(conversation)
}

// forPeer reports whether another agent, or a chat, sees what becomes of a message of the task: it
// has sent it, or the conversation is one of theirs, whoever has sent it.
func (t *identity) forPeer(s origin.Sender) bool { return s.IsApart() || t.ofPeer() }

// ofPeer reports whether the conversation is one of theirs.
func (t *identity) ofPeer() bool { return t.engine.OfPeer(t.about()) }

// commandPrefix marks the conversation that a command's task is kept under: that
// which it is about, but not one of it.
const commandPrefix = "command:"

// about is the conversation that a command's task is about.
func (t *identity) about() string { return strings.TrimPrefix(t.conversation, commandPrefix) }

// asideOf is between the name of a conversation and what is its own in that of one that went aside of it.
const asideOf = "/aside/"

// isOf reports whether the task is of a conversation, in it or aside of it: its /stop and /status
// reach both.
func (t *identity) isOf(conversation string) bool {
	return t.conversation == conversation || conversation != "" && t.asideFrom() == conversation
}

// asideFrom is the conversation that the task went aside of, "" if it did of none.
func (t *identity) asideFrom() string { return t.engine.asideFrom(t.conversation) }

// asideFrom is the conversation that another went aside of, "" if it did of none.
func (e *Engine) asideFrom(conversation string) string {
	i := strings.LastIndex(conversation, asideOf)
	if i < 0 || e.cfg.Workspace == nil || uuid.Validate(conversation[i+len(asideOf):]) != nil {
		return ""
	}
	return conversation[:i]
}

// sender is who sent a message, or made a request with such metadata; standing alone all
// are alike.
func (e *Engine) sender(m *a2a.Message, request map[string]any) origin.Sender {
	if e.cfg.Workspace == nil {
		return origin.Sender{}
	}
	return origin.Of(m, request, e.cfg.Main)
}

// mute reports whether what codex asks in a turn of the sender's waits for people who may not
// be there. What it asks in the main conversation the user answers, whoever has begun the turn;
// and where there is no such conversation, the user may be in any that is no agent's.
func (t *identity) mute(s origin.Sender) bool {
	e := t.engine
	return s.IsPeer() || !s.Answers() && e.cfg.Main != "" && t.conversation != e.conversation(&incoming{})
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
