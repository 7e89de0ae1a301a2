package tasks

import (
	"cmp"
	"context"
	"maps"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
)

// A keptMessage is one as the journal has it. As it stands in its task's history it does not tell who
// has sent it: it has the context of the task, and what its request said of the user is not in it.
type keptMessage struct {
	a2a.Message
	From *origin.Sender `json:"from,omitempty"` // earlier versions have kept none
}

// fromJournal returns a message of an earlier process, and who has sent it. A message of another agent's
// stays one in a process that was started without a workspace.
func (e *Engine) fromJournal(body []byte) (*a2a.Message, origin.Sender, error) {
	k, _, err := codec.Decode[keptMessage](body)
	switch {
	case err != nil:
		return nil, origin.Sender{}, err
	case k.From == nil || e.cfg.Workspace == nil && !k.From.IsPeer():
		return &k.Message, e.sender(&k.Message, nil), nil
	}
	return &k.Message, *k.From, nil
}

// mark notes who sent a message, and what follows for its key. What only the request says
// of one that is not the user goes into the message, where readers of the history see it.
func (e *Engine) mark(req *a2a.SendMessageRequest, in *incoming) {
	in.from = e.sender(req.Message, req.Metadata)
	var keys []string
	switch in.from.Kind {
	case origin.Peer:
		in.key.Caller, keys = in.from.Base(), origin.Marks
	case origin.Chat: // a service counts the messages of each chat anew
		in.key.Caller, keys = in.from.Base(), origin.PlatformMarks
	case origin.Platform, origin.Event:
		keys = origin.PlatformMarks
	default:
		return
	}
	marked := *in.message
	marked.Metadata = maps.Clone(marked.Metadata)
	for _, key := range keys {
		if value := origin.Said(req.Metadata, key); value != nil && origin.Said(marked.Metadata, key) == nil {
			marked.SetMeta(key, value)
		}
	}
	in.message = &marked
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
	e.press(ctx, req, in)
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
