package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/Molecule-AI/molecule-codex-runtime/channel"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/keys"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/reply"
)

// An engine makes tasks of the messages of inboxes. It implements [channel.Engine].
type engine struct {
	*tasks.Engine
	door a2asrv.RequestHandler // by which messages come in
}

// Give implements [channel.Engine].
func (e engine) Give(ctx context.Context, m channel.Message) (string, error) {
	ctx = tasks.WithWritten(arrivedAt(ctx, m.Workspace), m.Written)
	answer, err := e.door.SendMessage(ctx, &a2a.SendMessageRequest{
		Message: inboxMessage(m), Config: &a2a.SendMessageConfig{ReturnImmediately: true},
	})
	switch {
	case errors.Is(err, a2a.ErrInvalidParams), errors.Is(err, a2a.ErrUnsupportedOperation):
		return "", &channel.RefusedError{Text: saidText(reply.Fault("", err.Error()))}
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
		if len(m.Beside) == 0 { // other agents' words stand in it
			out.Metadata["source_type"] = "self-inbox"
		}
	default:
		out.Metadata = map[string]any{"source": "canvas_user"}
	}
	var row any
	if len(m.Beside) > 0 && json.Unmarshal(m.Beside, &row) == nil {
		out.Metadata["row"] = row
	}
	return out
}

// Follow implements [channel.Engine].
func (e engine) Follow(ctx context.Context, id string, say func(channel.Answer) error) error {
	for event, err := range e.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: a2a.TaskID(id)}) {
		if err != nil {
			break // it has ended, or is not there: that is found out below
		}
		state, meta := stateOf(event)
		if held, ok := meta[keys.Held].(map[string]any); ok {
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
func (e engine) Over(ctx context.Context, id string) bool {
	task, err := e.task(ctx, id)
	return err == nil && task.Status.State.Terminal()
}

// say passes on what the task needs its sender for.
func (e engine) say(ctx context.Context, id string, say func(channel.Answer) error) error {
	task, err := e.task(ctx, id)
	if err != nil || task.Status.State.Terminal() || reply.Of(task) == nil {
		return err
	}
	return say(answerOf(task))
}

func (e engine) task(ctx context.Context, id string) (*a2a.Task, error) {
	none := 0
	task, err := e.GetTask(ctx, &a2a.GetTaskRequest{ID: a2a.TaskID(id), HistoryLength: &none})
	if errors.Is(err, a2a.ErrTaskNotFound) {
		return nil, channel.ErrGone
	}
	return task, err
}
