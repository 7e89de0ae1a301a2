package tasks

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/origin"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/prompt"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// room says why the runner would not take the message, before it is committed: what is
// refused by the thousand leaves nothing in the journal.
func (e *Engine) room(in *incoming, t *task) error {
	if err := e.cfg.Runner.Refuses(in.job(t, "")); err != nil {
		return e.notQueued(err)
	}
	return nil
}

// job is what the runner is given of the message.
func (in *incoming) job(t *task, id string) executor.Job {
	return executor.Job{
		ID: id, Context: t.conversation, Input: in.Input, Options: in.options, Size: in.weight(), Patient: in.patient, Trace: keys.TraceOf(in.message),
		Bridged: in.message.Metadata[keys.Bridge] == true,
		Peer:    t.forPeer(in.from), Lend: t.engine.loans().Lender(&in.Prompt),
	}
}

// taskFor makes a task for a message that names none.
func (e *Engine) taskFor(in *incoming) *task {
	contextID := cmp.Or(in.key.Context, e.cfg.Main)
	if contextID == "" {
		contextID = a2a.NewContextID()
	}
	conversation := e.cfg.Threads(in.key.Context, contextID)
	if in.from.IsApart() {
		conversation = e.conversation(in)
		contextID = conversation
	}
	if in.command == "" { // which is about the conversation, and waits for nothing of it
		conversation = e.aside(in, conversation)
	}
	t := e.newTask(a2a.NewTaskID(), contextID, conversation)
	t.class = in.class()
	return t
}

// belongs checks a message that names a task; live is that task, or nil if it is
// not under way.
func (e *Engine) belongs(ctx context.Context, in *incoming, live *task) error {
	v, err := e.look(ctx, a2a.TaskID(in.key.Task))
	if err != nil {
		return err
	}
	task := v.task
	sameTalk := live != nil && e.conversation(in) == live.conversation
	if in.key.Context != "" && in.key.Context != task.ContextID && !sameTalk {
		return refusal.New(a2a.ErrInvalidParams,
			"task %q belongs to another context than %q; leave the contextId out or give the task's own", task.ID, brief.Clip(in.key.Context, 64))
	}
	if live == nil {
		return ended(task.ID, task.Status.State)
	}
	return nil
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

// aside gives a message of another agent a conversation of its own where the one that
// it belongs to waits for an agent: they would wait for each other.
func (e *Engine) aside(in *incoming, conversation string) string {
	if e.cfg.Workspace == nil || in.from.Kind != origin.Anybody && !in.from.IsPeer() ||
		!slices.ContainsFunc(e.ofConversation(conversation), func(t *task) bool { return t.conversation == conversation && t.delegates() }) {
		return conversation
	}
	return conversation + asideOf + a2a.NewContextID()
}

// loans are made of what the engine's files are.
func (e *Engine) loans() prompt.Loans { return prompt.Loans{Files: e.cfg.Files, Log: e.log} }
