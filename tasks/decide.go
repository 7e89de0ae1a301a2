package tasks

import (
	"context"
	"errors"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// Decide answers a question of a task as its user who has pressed a button. Under one name it is one
// answer. It is an error where the question cannot be answered now: an answer to it is under way, it has
// just been closed, or the task is being left to the next process.
func (e *Engine) Decide(ctx context.Context, task, question, name string, accept bool) error {
	t := e.live.find(a2a.TaskID(task))
	if t == nil || !t.hasOpen(question) {
		return errNotOpen
	}
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewDataPart(decisionData(question, accept)))
	message.ID, message.TaskID = name, t.id
	message.Metadata = map[string]any{"source": "canvas_user"}
	_, err := e.SendMessage(ctx, &a2a.SendMessageRequest{Message: message, Config: &a2a.SendMessageConfig{ReturnImmediately: true}})
	return err
}

var errNotOpen = errors.New("the question cannot be answered now")
