package inbox

import (
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

func stateOf(event a2a.Event) (a2a.TaskState, map[string]any) {
	switch event := event.(type) {
	case *a2a.Task:
		return event.Status.State, event.Metadata
	case *a2a.TaskStatusUpdateEvent:
		return event.Status.State, event.Metadata
	}
	return a2a.TaskStateUnspecified, nil
}

// heldText tells the user that their message waits for the end of a limit. It is said once
// for each task.
func heldText(held map[string]any) string {
	text := "Your message waits, and is answered by itself: a limit of the model is reached"
	if reason, _ := held["reason"].(string); reason != "" {
		text += " (" + reason + ")"
	}
	if until, _ := held["resetsAt"].(string); until != "" {
		text += ", until " + until
	}
	return text + "."
}

// answerOf is what a task says to those who wait for it. A login is asked for once,
// however often its code changes.
func answerOf(task *a2a.Task) channel.Answer {
	reply := reply.Of(task)
	a := channel.Answer{ID: reply.ID, Text: saidText(reply), Final: task.Status.State.Terminal()}
	if task.Status.State == a2a.TaskStateAuthRequired {
		a.ID, a.ForUser = string(task.ID)+"-login", tasks.PeerWaits
	}
	if status, failed := exitStatus(task); failed {
		a.Text += fmt.Sprintf("\n\n(codex exec failed: exit=%d)", status)
	}
	for _, p := range reply.Parts {
		if uri, ok := p.Content.(a2a.URL); ok {
			a.Files = append(a.Files, channel.File{URI: string(uri), Name: p.Filename, MediaType: p.MediaType})
		}
	}
	return a
}

// exitStatus is what readers of an older bridge know failures by: -1 for a turn that took
// too long, else 1.
func exitStatus(task *a2a.Task) (int, bool) {
	switch task.Status.State {
	case a2a.TaskStateFailed, a2a.TaskStateRejected:
	default:
		return 0, false
	}
	failure, _ := task.Metadata[keys.Failure].(map[string]any)
	if failure["kind"] == string(agent.FailTimeout) {
		return -1, true
	}
	return 1, true
}

// saidText joins the texts of a message.
func saidText(m *a2a.Message) string {
	var texts []string
	for _, p := range m.Parts {
		if text := p.Text(); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n")
}
