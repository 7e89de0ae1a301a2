package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/retention"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// An inboxEngine makes tasks of the messages of inboxes. It implements [channel.Engine].
type inboxEngine struct {
	*tasks.Engine
	door a2asrv.RequestHandler // by which messages come in
}

// Give implements [channel.Engine].
func (e inboxEngine) Give(ctx context.Context, m channel.Message) (string, error) {
	ctx = tasks.WithWritten(arrivedAt(ctx, m.Workspace), m.Written)
	answer, err := e.door.SendMessage(ctx, &a2a.SendMessageRequest{
		Message: inboxMessage(m), Config: &a2a.SendMessageConfig{ReturnImmediately: true},
	})
	switch {
	case errors.Is(err, a2a.ErrInvalidParams), errors.Is(err, a2a.ErrUnsupportedOperation):
		return "", &channel.RefusedError{Text: saidText(tasks.FaultReply("", err.Error()))}
	case errors.Is(err, a2a.ErrServerError):
		return "", fmt.Errorf("%w: %w", channel.ErrNotNow, err)
	case err != nil:
		return "", err
	}
	switch answer := answer.(type) {
	case *a2a.Task:
		return string(answer.ID), nil
	case *a2a.Message:
		return "", &channel.RefusedError{Text: saidText(answer)}
	}
	return "", fmt.Errorf("an answer of an unknown kind, %T", answer)
}

// inboxMessage is the message with the marks by which the engine knows its sender.
func inboxMessage(m channel.Message) *a2a.Message {
	out := a2a.NewMessage(a2a.MessageRoleUser)
	out.ID, out.ContextID = m.ID, m.Conversation
	if m.Text != "" {
		out.Parts = append(out.Parts, a2a.NewTextPart(m.Text))
	}
	for _, f := range m.Files {
		part := a2a.NewFileURLPart(a2a.URL(f.URI), f.MediaType)
		if f.URI == "" {
			part = a2a.NewRawPart(f.Bytes)
		}
		part.Filename, part.MediaType = f.Name, f.MediaType
		out.Parts = append(out.Parts, part)
	}
	switch {
	case m.Peer != "":
		out.Metadata = map[string]any{"source_workspace_id": m.Peer}
	case m.Own:
		out.Metadata = map[string]any{"source": "platform"}
	default:
		out.Metadata = map[string]any{"source": "canvas_user"}
	}
	return out
}

// Follow implements [channel.Engine].
func (e inboxEngine) Follow(ctx context.Context, id string, say func(channel.Answer) error) error {
	for event, err := range e.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: a2a.TaskID(id)}) {
		if err != nil {
			break // it has ended, or is not there: that is found out below
		}
		state, meta := stateOf(event)
		if held, ok := meta[tasks.MetaHeld].(map[string]any); ok {
			if err := say(channel.Answer{ID: id + "-held", Text: heldText(held), Aside: true}); err != nil {
				return err
			}
		}
		if state != a2a.TaskStateInputRequired && state != a2a.TaskStateAuthRequired {
			continue
		}
		if err := e.say(ctx, id, say); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	task, err := e.task(ctx, id)
	switch {
	case err != nil:
		return err
	case !task.Status.State.Terminal():
		return fmt.Errorf("the task has not ended, and is not followed any more")
	}
	return say(answerOf(task))
}

// Over implements [channel.Engine].
func (e inboxEngine) Over(ctx context.Context, id string) bool {
	task, err := e.task(ctx, id)
	return err == nil && task.Status.State.Terminal()
}

// say passes on what the task needs its sender for.
func (e inboxEngine) say(ctx context.Context, id string, say func(channel.Answer) error) error {
	task, err := e.task(ctx, id)
	if err != nil || task.Status.State.Terminal() || tasks.Reply(task) == nil {
		return err
	}
	return say(answerOf(task))
}

func (e inboxEngine) task(ctx context.Context, id string) (*a2a.Task, error) {
	none := 0
	task, err := e.GetTask(ctx, &a2a.GetTaskRequest{ID: a2a.TaskID(id), HistoryLength: &none})
	if errors.Is(err, a2a.ErrTaskNotFound) {
		return nil, channel.ErrGone
	}
	return task, err
}

func stateOf(event a2a.Event) (a2a.TaskState, map[string]any) {
	switch event := event.(type) {
	case *a2a.Task:
		return event.Status.State, event.Metadata
	case *a2a.TaskStatusUpdateEvent:
		return event.Status.State, event.Metadata
	}
	return a2a.TaskStateUnspecified, nil
}

// heldText tells the user that his message waits for the end of a limit. It is said once
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
	reply := tasks.Reply(task)
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
	failure, _ := task.Metadata[tasks.MetaFailure].(map[string]any)
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

// spaceStages brings the files of messages to the disk. It implements [tasks.Files].
type spaceStages struct {
	attachments // of any of the workspaces: they share the folder
	box         *inbox
}

func (box *inbox) messageFiles() tasks.Files {
	return spaceStages{box.attachments(box.spaces[0].files), box}
}

// Stage implements [tasks.Files]: of what platforms hold, a message has what that of the
// workspace holds at which it has arrived, whatever its URIs name.
func (s spaceStages) Stage(ctx context.Context, key string, p *a2a.Part, most int64, peer bool) (tasks.File, error) {
	for _, m := range s.box.spaces {
		if m.id == ctx.Value(arrivedKey{}) {
			return s.box.attachments(m.files).Stage(ctx, key, p, most, peer)
		}
	}
	return s.attachments.Stage(ctx, key, p, most, peer)
}

type arrivedKey struct{}

// arrivedAt notes the workspace of a message that is handed in.
func arrivedAt(ctx context.Context, workspace string) context.Context {
	return context.WithValue(ctx, arrivedKey{}, workspace)
}

// sweeper forgets old files; one folder stands for all.
func (box *inbox) sweeper() retention.Sweeper { return box.spaces[0].files }

// attachments are the files of a workspace's messages as the tasks see them.
func (box *inbox) attachments(folder *files.Folder) attachments {
	return attachments{folder: folder, loans: box.loans, platform: true, log: box.log}
}
