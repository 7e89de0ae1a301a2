package tasks

import (
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/prompt"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// longestID bounds the ids that callers invent: they are kept, indexed and logged.
const longestID = 512

// incoming is a message that has been checked.
type incoming struct {
	key           store.Key
	digest        [32]byte
	written       time.Time // when it was, or has come
	patient       bool      // nobody stands and waits for the end
	retry         bool      // run it again if it was cut off
	command       string    // that it is, instead of a message to codex; mostly empty
	message       *a2a.Message
	prompt.Prompt                // what codex gets of it
	answers       []string       // ids of the questions over a restart that it answers
	extra         map[string]any // metadata of its request, until they are checked
	earlier       *a2a.Message   // the same message as it was taken before, if it is to run again
	options       agent.Options
	notify        *string       // who is to be told of the end; nil leaves that as it was
	refused       error         // why it must not be a new message, or of an answer that is taken, why no turn can be made of it
	push          *setting      // that its caller wants to be told by; may be nil
	unnamed       bool          // the setting has its id from us
	from          origin.Sender // as far as that can be told
	staged        []attach.File // that are held for it until it is accepted or not
	leave         func()        // lets others with its key bring their files; nil if it has brought none
	receipt       *Receipt      // of the answer; nil if nobody waits, or need not be told otherwise
}

// read checks a message. What codex gets of it is for compose to say.
func read(req *a2a.SendMessageRequest) (*incoming, error) {
	if err := check(req); err != nil {
		return nil, err
	}
	m := attach.WithoutOurs(req.Message)
	return &incoming{
		key:     store.Key{Context: m.ContextID, Task: string(m.TaskID), Message: m.ID},
		digest:  codec.DigestOf(m.Parts),
		retry:   m.Metadata[keys.Retry] == true || req.Metadata[keys.Retry] == true,
		command: commandOf(m),
		message: m,
	}, nil
}

func check(req *a2a.SendMessageRequest) error {
	if req == nil || req.Message == nil {
		return refusal.New(a2a.ErrInvalidParams, "the message is missing")
	}
	m := req.Message
	switch {
	case m.ID == "":
		return refusal.New(a2a.ErrInvalidParams, "message.messageId is missing")
	case max(len(m.ID), len(m.ContextID), len(m.TaskID)) > longestID:
		return refusal.New(a2a.ErrInvalidParams, "an id is longer than %d bytes", longestID)
	case strings.HasPrefix(m.ContextID, commandPrefix):
		return refusal.New(a2a.ErrInvalidParams, "a contextId that begins with %q is the runtime's own; give another one, or none", commandPrefix)
	case m.Role != a2a.MessageRoleUser:
		return refusal.New(a2a.ErrInvalidParams, "message.role is %q; only messages of the user make turns", brief.Clip(m.Role.String(), 64))
	case len(m.Parts) == 0:
		return refusal.New(a2a.ErrInvalidParams, "message.parts is empty; send at least one part")
	}
	if err := checkKeepable(m); err != nil {
		return err
	}
	if req.Config == nil {
		return nil
	}
	if err := checkModes(req.Config.AcceptedOutputModes); err != nil {
		return err
	}
	return checkHistory(req.Config.HistoryLength)
}

// refuse notes why the message must not be a new one, if it must not.
func (in *incoming) refuse(why error) bool {
	in.refused = why
	return why != nil
}

// named is the task that the message names, "" if it names none.
func (in *incoming) named() a2a.TaskID { return a2a.TaskID(in.key.Task) }

// class is what the task of a message is kept among if no turn is made of it. A command that
// ends something must not be carried out again: it would end what came after it.
func (in *incoming) class() store.Class {
	switch {
	case in.command == commandStatus, in.command == commandRestarted:
		return store.Harmless
	case in.from.IsApart():
		return store.UnrunOfPeer
	}
	return store.Unrun
}

// stored returns the message as it stands in the history of its task.
func (in *incoming) stored(t *task) *a2a.Message {
	m := *in.message
	m.TaskID, m.ContextID = t.id, t.contextID
	return &m
}
