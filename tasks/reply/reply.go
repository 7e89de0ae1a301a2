// Package reply says what a task comes to in one message, for callers who read nothing else.
package reply

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/attach"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
)

// Of returns what a task comes to as one message, for callers who read
// nothing else: the reply of a completed task, why another one failed, what a
// waiting one asks. Its first part is a text that is not empty. It returns nil
// for a task that is still being worked on.
func Of(task *a2a.Task) *a2a.Message {
	texts := replyTexts(task)
	if len(texts) == 0 {
		return nil
	}
	m := a2a.NewMessageForTask(a2a.MessageRoleAgent, task)
	switch state := task.Status.State; {
	case state.Terminal():
		m.ID = string(task.ID) + "-reply" // the same answer to the same question
	case NeedsCaller(state) && task.Status.Message != nil:
		m.ID = task.Status.Message.ID // there may be another one, and the answer comes later
	}
	for _, text := range texts {
		m.Parts = append(m.Parts, a2a.NewTextPart(text))
	}
	for _, a := range task.Artifacts { // the files that it hands out, behind what it says
		for _, p := range a.Parts {
			if attach.IsFile(p) {
				m.Parts = append(m.Parts, p)
			}
		}
	}
	for _, key := range []string{keys.Usage, keys.Failure, keys.Interrupted, keys.Tools} {
		if value, ok := task.Metadata[key]; ok {
			m.SetMeta(key, value)
		}
	}
	return m
}

// Fault answers a message that could not be accepted, or whose answer cannot be
// waited for.
func Fault(contextID, why string) *a2a.Message {
	out := a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart("[codex error] "+plain(why)))
	out.ContextID = contextID
	return out
}

func replyTexts(task *a2a.Task) []string {
	status := TextOf(task.Status.Message)
	said := Text(task)
	var first string
	switch task.Status.State {
	case a2a.TaskStateCompleted:
		return []string{brief.Or(said, brief.Or(status, Empty))}
	case a2a.TaskStateFailed, a2a.TaskStateRejected:
		first = failureText(task, status)
	case a2a.TaskStateCanceled:
		first = "[codex error] this message was canceled before it was answered"
	case a2a.TaskStateInputRequired:
		return []string{brief.Or(status, EmptyQuestion)}
	case a2a.TaskStateAuthRequired:
		return []string{plain(brief.Or(status, EmptyQuestion))}
	default:
		if task.Metadata[keys.Turn] == keys.TurnSteered {
			return []string{Steered}
		}
		return nil
	}
	if said == "" {
		return []string{first}
	}
	return []string{first, said} // what there was before it went wrong
}

// failureText says why a task failed, with the prefixes that platform users know.
func failureText(task *a2a.Task, why string) string {
	why = plain(brief.Or(why, "codex failed without saying why"))
	failure, _ := task.Metadata[keys.Failure].(map[string]any)
	switch kind, _ := failure["kind"].(string); agent.FailureKind(kind) {
	case agent.FailTimeout:
		seconds, _ := failure["afterSeconds"].(float64)
		return fmt.Sprintf("[codex turn timed out after %.0fs] %s", seconds, why)
	case agent.FailUnreachable:
		return "[codex unreachable] " + why
	}
	return "[codex error] " + why
}

// alarming matches the words that make the platform's checks take a reply for
// the crash of a runtime.
var alarming = regexp.MustCompile(`(?i)agent error|exception|error result|a2a_error|missing_byok_credential|not logged in|please run /login|no provider api key|model_not_found|\b401( unauthorized)?\b`)

// plain says the same without those words.
func plain(why string) string {
	return alarming.ReplaceAllStringFunc(why, func(word string) string {
		switch word = strings.ToLower(word); {
		case strings.HasPrefix(word, "401"):
			return "unauthorized"
		case word == "model_not_found":
			return "unknown model"
		case word == "not logged in":
			return "without a login"
		case word == "please run /login":
			return "please log in"
		case strings.HasPrefix(word, "missing_byok"), strings.HasPrefix(word, "no provider"):
			return "no credential"
		}
		return "fault"
	})
}

// Text returns the text of the artifact that the task names as its reply.
func Text(task *a2a.Task) string {
	id, _ := task.Metadata[keys.Reply].(string)
	for _, a := range task.Artifacts {
		if string(a.ID) == id && id != "" {
			return text(a.Parts)
		}
	}
	return ""
}

// TextOf returns the text of a message; nil has none.
func TextOf(m *a2a.Message) string {
	if m == nil {
		return ""
	}
	return text(m.Parts)
}

func text(parts a2a.ContentParts) string {
	var b strings.Builder
	for _, p := range parts {
		if p != nil {
			b.WriteString(p.Text())
		}
	}
	return b.String()
}

// Empty stands where codex had nothing to say: readers take an empty text
// for a failure.
const Empty = "(codex returned empty output)"

// Steered answers a message of the user's that became part of the turn that runs.
const Steered = "Got your message. I am in the middle of a task; it goes into that, and the answer comes here."

// EmptyQuestion stands where a question has no words.
const EmptyQuestion = "codex is waiting for an answer"

// NeedsCaller reports whether a task in a state waits for its caller, and for
// nobody else.
func NeedsCaller(state a2a.TaskState) bool {
	return state == a2a.TaskStateInputRequired || state == a2a.TaskStateAuthRequired
}
