package tasks

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/notify"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/overrides"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// A Notify is what the engine needs to have somebody told of a task's end. All
// fields must be set; the engine puts a notice into the journal, with the end, and
// somebody else sends it.
type Notify struct {
	// Check refuses targets that nobody can be told at. Its text is for the caller.
	Check func(target string) error
	// Wake is called when there is a new notice. It must not block.
	Wake func()
}

// Lengths of what a notice says, in characters.
const (
	noticePrompt  = 300
	noticeSummary = 700
)

// readTarget reads who is to be told of the end; nil if the message does not say.
// An empty text stands for nobody. What another agent's message says is left out: a
// notice has its words in the name of this one, and no mark of whose they are.
func (e *Engine) readTarget(in *incoming) (*string, error) {
	meta := in.message.Metadata
	if meta[keys.Notify] == nil {
		return nil, nil
	}
	if in.from.IsPeer() {
		e.log.Info("a notice that another agent's message asks for is left out: nobody is told of its task's end", "from", in.from.Base())
		return nil, nil
	}
	target, err := overrides.Word(meta, keys.Notify)
	if target = strings.TrimSpace(target); err != nil || target == "" {
		return &target, err
	}
	if e.cfg.Notify == nil {
		return nil, refusal.New(a2a.ErrInvalidParams, "%s is not supported here; leave it out", keys.Notify)
	}
	if err := e.cfg.Notify.Check(target); err != nil {
		return nil, refusal.New(a2a.ErrInvalidParams, "%s is refused: %s", keys.Notify, brief.Clip(err.Error(), 512))
	}
	return &target, nil
}

// noteTarget notes who is to be told of the task's end; nil leaves that as it is.
func (t *state) noteTarget(target *string) {
	if target != nil {
		t.note(map[string]any{keys.Notification: notification(*target, "")})
	}
}

// notification is what the metadata of a task says of a notice.
func notification(target, status string) map[string]any {
	data := map[string]any{"target": target}
	if target != "" {
		status = brief.Or(status, store.NoticePending)
	}
	if status != "" {
		data["status"] = status
	}
	return data
}

// withNotice puts what became of a notice in place of what the task's end knew of it.
func withNotice(meta map[string]any, n *store.Notice) map[string]any {
	if n == nil {
		return meta
	}
	data := notification(n.Target, n.Status)
	if n.Error != "" {
		data["error"] = n.Error
	}
	if !n.Sent.IsZero() {
		data["notifiedAt"] = n.Sent.UTC().Format(time.RFC3339Nano)
	}
	out := maps.Clone(meta)
	if out == nil {
		out = map[string]any{}
	}
	out[keys.Notification] = data
	return out
}

// notice makes what is said of the task's end; nil if it was not asked for. It is about to enter the
// state.
func (t *state) notice(state a2a.TaskState, status *a2a.Message) *store.Notice {
	wish, ok := t.meta[keys.Notification].(map[string]any)
	if !ok {
		return nil
	}
	target, _ := wish["target"].(string)
	n := &store.Notice{Target: target}
	if target != "" {
		n.Status, n.Due = store.NoticePending, time.Now()
	}
	n.Body = codec.Encode(notify.Body{Name: t.name(), State: stateWord(state), Text: t.epitaph(state, status)})
	return n
}

// name is what the sender calls the task: with a context for it alone he has given
// it a name of his own, else it is the task's id.
func (t *state) name() string {
	if len(t.history) > 0 && t.history[0].ID == t.contextID {
		return t.contextID
	}
	return string(t.id)
}

// stateWord is the state of a task that has ended, in a word.
func stateWord(state a2a.TaskState) string {
	switch state {
	case a2a.TaskStateCompleted:
		return "completed"
	case a2a.TaskStateCanceled:
		return "cancelled"
	}
	return "failed"
}

// epitaph is what is said of the task, in three lines.
func (t *state) epitaph(state a2a.TaskState, status *a2a.Message) string {
	prompt := ""
	if len(t.history) > 0 {
		prompt = reply.TextOf(t.history[0])
	}
	lines := []string{
		"Codex Bridge task " + t.name() + " finished with status: " + stateWord(state) + ".",
		"Prompt: " + brief.Or(brief.Line(prompt, noticePrompt), "(no prompt summary)"),
	}
	summary := reply.TextOf(status)
	if state == a2a.TaskStateCompleted {
		summary = brief.Or(reply.Text(t.snapshot()), summary)
	}
	if summary = brief.Line(summary, noticeSummary); summary != "" {
		lines = append(lines, "Summary: "+summary)
	}
	return strings.Join(slices.Clip(lines), "\n")
}
