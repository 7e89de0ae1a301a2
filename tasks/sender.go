package tasks

import (
	"context"
	"errors"
	"maps"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// sender is who sent a message, or made a request with such metadata; standing alone all
// are alike.
func (e *Engine) sender(m *a2a.Message, request map[string]any) origin.Sender {
	if e.cfg.Workspace == nil {
		return origin.Sender{}
	}
	return origin.Of(m, request, e.cfg.Main)
}

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

// mute reports whether what codex asks in a turn of the sender's waits for people who may not
// be there. What it asks in the main conversation the user answers, whoever has begun the turn;
// and where there is no such conversation, the user may be in any that is no agent's.
func (t *task) mute(s origin.Sender) bool {
	e := t.engine
	return s.IsPeer() || !s.Answers() && e.cfg.Main != "" && t.conversation != e.conversation(&incoming{})
}

// OfPeer reports whether a conversation is one with another agent, or with a chat. Only a
// workspace has those; elsewhere a caller may call one of its own so.
func (e *Engine) OfPeer(conversation string) bool {
	return e.cfg.Workspace != nil && origin.NamesPeer(conversation)
}

// forPeer reports whether another agent, or a chat, sees what becomes of a message of the task: it
// has sent it, or the conversation is one of theirs, whoever has sent it.
func (t *task) forPeer(s origin.Sender) bool { return s.IsApart() || t.ofPeer() }

// ofPeer reports whether the conversation is one of theirs.
func (t *task) ofPeer() bool { return t.engine.OfPeer(t.about()) }

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

// known is the message that was accepted before under the key. An earlier version kept
// those of agents without their senders, and the platform may send one of them again.
func (e *Engine) known(ctx context.Context, in *incoming) (store.Message, error) {
	m, err := e.cfg.Journal.Message(ctx, in.key)
	if !in.from.IsPeer() || !errors.Is(err, store.ErrUnknown) {
		return m, err
	}
	earlier := in.key
	earlier.Caller = ""
	old, missing := e.cfg.Journal.Message(ctx, earlier)
	if missing != nil || old.Digest != in.digest || !e.keptFor(ctx, in.from, old) {
		return m, err
	}
	in.key = earlier
	return old, nil
}

// keptFor reports whether a message that an earlier version has kept without its sender is
// an agent's. That version did not keep what only the request had said of an agent; but the
// answers of such messages were not the user's, and of all others they were. What this
// version has kept without one is no agent's.
func (e *Engine) keptFor(ctx context.Context, s origin.Sender, m store.Message) bool {
	row, err := e.cfg.Journal.Head(ctx, m.TaskID)
	if err != nil {
		return false
	}
	body, err := e.cfg.Journal.Body(ctx, m.Job)
	if err != nil {
		return false
	}
	h, badHead := readHead(row)
	message, _, err := codec.Decode[a2a.Message](body)
	if badHead != nil || h.Sorted || err != nil {
		return false
	}
	if by := origin.Of(message, nil, ""); by != (origin.Sender{}) {
		return by == s
	}
	return !h.Owed
}

// reachable refuses an agent or a chat a task that is in none of its conversations, in the words
// for one that is not there.
func (e *Engine) reachable(ctx context.Context, s origin.Sender, id a2a.TaskID, live *task) error {
	if !s.IsApart() {
		return nil
	}
	conversation := ""
	if live != nil {
		conversation = live.about()
	} else if row, err := e.cfg.Journal.Head(ctx, string(id)); err == nil {
		conversation = row.Conversation
	}
	if !s.Owns(conversation) {
		return refusal.NotFound(id)
	}
	return nil
}
