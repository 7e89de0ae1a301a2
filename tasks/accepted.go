package tasks

import (
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/feed"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// accepted is what the sender of a message takes of the answer, and how.
type accepted struct {
	data   bool // progress, which is data
	diff   bool
	pieces bool // a text piece by piece, as it is written
	whole  bool // a text once more with its last chunk, in place of its pieces
}

func everything() accepted { return accepted{data: true, diff: true, pieces: true} }

// keyUserInput marks the parts of a message whose sender keeps of a text what its last
// chunk has: the remote agents of Google's ADK.
const keyUserInput = "is_user_input"

// wanted is what the sender of a message wants to see of its task. It holds nothing else
// of the request, which can be large, and its sender waits for long.
type wanted struct {
	context string // that the message was sent in; may be empty
	history *int   // of the newest messages; nil is all
	takes   accepted
}

func wantedBy(req *a2a.SendMessageRequest) wanted {
	w := wanted{context: req.Message.ContextID, takes: everything()}
	if modes := AcceptedModes(req); len(modes) > 0 {
		w.takes.data, w.takes.diff = Takes(modes, "application/json"), Takes(modes, keys.MediaDiff)
		w.takes.pieces = Takes(modes, "text/*")
	}
	if req.Config != nil {
		w.history = req.Config.HistoryLength
	}
	w.takes.whole = keepsLast(req.Message)
	return w
}

// modes is what is taken of a task. A message that answers a question of a task is one of
// those that came before it in the task.
func (w wanted) modes(task *a2a.Task) accepted {
	a := w.takes
	a.whole = a.whole || slices.ContainsFunc(task.History, keepsLast)
	return a
}

// of is a task as the sender sees it. The struct is the sender's own.
func (w wanted) of(task *a2a.Task) *a2a.Task {
	task = addressed(task, w.context)
	return w.modes(task).of(trimmed(task, w.history))
}

func keepsLast(m *a2a.Message) bool {
	return m.Role == a2a.MessageRoleUser && slices.ContainsFunc(m.Parts, func(p *a2a.Part) bool {
		return p != nil && p.Metadata[keyUserInput] == true
	})
}

// AcceptedModes are the media types that the sender of a message takes; none means any.
func AcceptedModes(req *a2a.SendMessageRequest) []string {
	if req == nil || req.Config == nil {
		return nil
	}
	return req.Config.AcceptedOutputModes
}

// How many media types the sender of a message may say that it takes, and how many bytes
// they may have together: they are kept for as long as it waits.
const (
	mostModes     = 64
	mostModeBytes = 4 << 10
)

func checkModes(modes []string) error {
	n := 0
	for _, mode := range modes {
		n += len(mode)
	}
	if len(modes) <= mostModes && n <= mostModeBytes {
		return nil
	}
	return refusal.New(a2a.ErrInvalidParams, "configuration.acceptedOutputModes has %d media types with %d bytes, and at most %d with %d bytes are taken; "+
		"name fewer, or none to take all", len(modes), n, mostModes, mostModeBytes)
}

// Takes reports whether one of the modes is a media type, or one of the types of a kind,
// such as "text/*". A mode without a slash is a kind, too: earlier clients have "text".
func Takes(modes []string, media string) bool {
	kind, sub, _ := strings.Cut(media, "/")
	return slices.ContainsFunc(modes, func(mode string) bool {
		mode, _, _ = strings.Cut(strings.ToLower(mode), ";")
		k, s, ok := strings.Cut(strings.TrimSpace(mode), "/")
		return (k == "*" || k == kind) && (!ok || s == "*" || sub == "*" || s == sub)
	})
}

// of leaves out of a task what its reader does not take. The struct is the caller's own.
func (a accepted) of(task *a2a.Task) *a2a.Task {
	if !a.diff && slices.ContainsFunc(task.Artifacts, isDiff) {
		task.Artifacts = slices.DeleteFunc(slices.Clone(task.Artifacts), isDiff)
	}
	return task
}

// only wraps the reader of a stream, so that it gets what it takes.
func (a accepted) only(v *view, yield func(*feed.Event, error) bool) func(*feed.Event, error) bool {
	if a == everything() {
		return yield
	}
	return func(e *feed.Event, err error) bool {
		if err == nil {
			e = a.event(v, e)
		}
		return err == nil && e == nil || yield(e, err)
	}
}

// event is what the reader gets of an event; nil is nothing.
func (a accepted) event(v *view, e *feed.Event) *feed.Event {
	switch update := e.Event.(type) {
	case *a2a.Task:
		own := *update
		return e.With(a.of(&own))
	case *a2a.TaskStatusUpdateEvent:
		if !a.data && isProgress(update) {
			return nil
		}
	case *a2a.TaskArtifactUpdateEvent:
		return a.artifact(v, e, update)
	}
	return e
}

func (a accepted) artifact(v *view, e *feed.Event, update *a2a.TaskArtifactUpdateEvent) *feed.Event {
	_, isText := update.Artifact.Parts[0].Content.(a2a.Text)
	void := update.Metadata[keys.Void] == true
	switch {
	case void && a.whole: // for such a reader, an update without append is a text of its own
		return nil
	case isDiff(update.Artifact) && !a.diff, isText && !void && !a.pieces && !update.LastChunk:
		return nil
	case !isText || !update.LastChunk || !update.Append || a.pieces && !a.whole:
		return e
	}
	for _, whole := range v.now().Artifacts {
		if whole.ID == update.Artifact.ID {
			out, own := *update, *whole
			// The files of the task may be those of a later chunk.
			own.Parts = slices.DeleteFunc(slices.Clone(whole.Parts), attach.IsFile)
			for _, p := range update.Artifact.Parts {
				if attach.IsFile(p) {
					own.Parts = append(own.Parts, p)
				}
			}
			out.Append, out.Artifact = false, &own
			return e.With(&out)
		}
	}
	return e
}

// remakes reports whether events are made anew of the task as it is.
func (a accepted) remakes() bool { return a.whole || !a.pieces }

// now is the task as it is.
func (v *view) now() *a2a.Task {
	if v.of == nil {
		return v.task
	}
	return v.of.peek()
}

func isDiff(a *a2a.Artifact) bool {
	return a.Name == keys.NameDiff && a.Parts[0].MediaType == keys.MediaDiff
}

// isProgress reports whether an event is about progress, which changes nothing about
// the task: those that do have its metadata, and a question has words.
func isProgress(update *a2a.TaskStatusUpdateEvent) bool {
	m := update.Status.Message
	return update.Metadata == nil && m != nil && len(m.Parts) == 1 && m.Parts[0].Data() != nil
}
