package tasks

import (
	"encoding/json"
	"maps"
	"slices"
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
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/sizes"
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
	press         *press    // the answer to a question by a button; nil is none
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
	case slices.Contains([]string{commandStatus, commandRestarted, commandPressed, commandTimeUp}, in.command):
		return store.Harmless
	case in.from.IsApart():
		return store.UnrunOfPeer
	}
	return store.Unrun
}

// readOverrides reads what a message asks for beside its text. What it must not have
// counts only if the message is new: what was accepted once is known by its id,
// whatever the settings say by now.
func (e *Engine) readOverrides(in *incoming) {
	in.options, in.refused = e.cfg.Bounds.Read(in.message.Metadata)
	if in.refused == nil && in.from.IsPeer() {
		in.refused = e.cfg.Bounds.PlainFolder(in.options.Cwd)
	}
	if in.refused == nil {
		in.notify, in.refused = e.readTarget(in)
	}
}

// mostMetadata is how many bytes a message may have beside what its parts say: its metadata
// and those of its request and its parts, the names, types and URLs of files, extensions,
// and the tasks that it refers to. It is kept with the message, and is not for the model.
const mostMetadata = 64 << 10

// trim takes out of a message what is for others and can be long. The metadata of its
// request are not kept in any case.
func (e *Engine) trim(in *incoming, req *a2a.SendMessageRequest) {
	in.extra = req.Metadata
	if e.cfg.Workspace == nil {
		return
	}
	if _, ok := in.message.Metadata[origin.HistoryKey]; ok {
		m := *in.message
		m.Metadata = maps.Clone(m.Metadata)
		m.Metadata[origin.HistoryKey] = []any{}
		in.message = &m
	}
	if _, ok := in.extra[origin.HistoryKey]; ok {
		in.extra = maps.Clone(in.extra)
		delete(in.extra, origin.HistoryKey)
	}
}

// checkMetadata refuses a message with more beside its parts than is kept.
func (in *incoming) checkMetadata() error {
	n := metadataSize(in.message, in.extra)
	in.extra = nil // what was not refused is not needed any more
	if n <= mostMetadata {
		return nil
	}
	return refusal.New(a2a.ErrInvalidParams, "the message has %d bytes of metadata, and at most %d are taken, those of its parts, names and URLs of files, "+
		"extensions and referenceTaskIds included; send what codex is to read as a part, or in a file", n, mostMetadata)
}

// metadataSize is what a message and its request take on the wire beside ids and what
// the parts say.
func metadataSize(m *a2a.Message, extra map[string]any) int {
	n := sizes.Wire(0)
	n.Object(extra)
	n.Object(m.Metadata)
	n.Texts(m.Extensions...)
	for _, id := range m.ReferenceTasks {
		n.Texts(string(id))
	}
	for _, p := range m.Parts {
		n.Texts(p.Filename, p.MediaType, string(p.URL()))
		n.Object(p.Metadata)
	}
	return int(n)
}

// The SDK's types can hold parts that it writes and does not read again. What is kept is
// read by everyone: nothing that cannot be is taken, and what is there all the same, from an
// earlier version or a disk, costs no more than itself.

// checkKeepable refuses a message that could not be read again.
func checkKeepable(m *a2a.Message) error {
	for i, p := range m.Parts {
		switch {
		case isVoid(p):
			return refusal.New(a2a.ErrInvalidParams, "message.parts[%d] is empty", i)
		case !encodable(p.Data()) || !encodable(p.Metadata):
			return refusal.New(a2a.ErrInvalidParams, "message.parts[%d] cannot be written as JSON", i)
		}
	}
	if !encodable(m.Metadata) {
		return refusal.New(a2a.ErrInvalidParams, "message.metadata cannot be written as JSON")
	}
	return nil
}

// isVoid reports whether nothing would be written of what a part says.
func isVoid(p *a2a.Part) bool {
	if p == nil {
		return true
	}
	switch c := p.Content.(type) {
	case a2a.Text:
		return false
	case a2a.Raw:
		return c == nil
	case a2a.Data:
		return c.Value == nil
	case a2a.URL:
		return c == ""
	}
	return true
}

// encodable reports whether a value of a caller is one of JSON.
func encodable(value any) bool {
	if m, ok := value.(map[string]any); value == nil || ok && len(m) == 0 {
		return true
	}
	_, err := json.Marshal(value)
	return err == nil
}

// unread logs, once for each task, that not all of it could be read.
func (e *Engine) unread(id string, why error) {
	if why == nil {
		return
	}
	if _, said := e.unreadable.LoadOrStore(id, true); !said {
		e.log.Error("not all of a task in the state database can be read; the rest of it is shown", "task_id", id, "err", why)
	}
}
