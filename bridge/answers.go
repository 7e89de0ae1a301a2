package bridge

import (
	"context"
	"fmt"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

func (c *Client) respond(ctx context.Context, a Args) (any, error) {
	task, err := c.active(ctx, a.TaskID)
	if err != nil {
		return nil, err
	}
	asked, err := pending(task, a.TaskID, a.Instruction)
	if err != nil {
		return nil, err
	}
	data := asked.answer(a.Decision, a.Answers)
	m := a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewDataPart(data)) // the runtime knows what the turn had that asks
	answered, err := c.reply(ctx, m, a.Instruction)
	if err != nil {
		return nil, err
	}
	delete(data, "id")
	return TaskAnswer{Success: true, Task: answered, Response: data}, nil
}

// openOnes names the questions that can be answered.
func openOnes(t *a2a.Task) string {
	open := Questions(t.Status)
	ids := make([]string, 0, len(open))
	for _, q := range open {
		ids = append(ids, q.RequestID)
	}
	if len(ids) == 0 {
		return " None is open."
	}
	return " Open: " + strings.Join(ids, ", ") + "."
}

// Say answers a question in words, as docs/messages.md has them. An answer that the runtime does
// not understand is an error that says why.
func (c *Client) Say(ctx context.Context, id, question, words string) (*Task, error) {
	task, err := c.active(ctx, id)
	if err != nil {
		return nil, err
	}
	asked, err := pending(task, id, question)
	if err != nil {
		return nil, err
	}
	m := a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart(words))
	if !asked.Stale() { // the new turn that carries the answer is to read the words, and no more
		m.Parts = append(m.Parts, a2a.NewDataPart(map[string]any{"id": asked.Payload["id"]})) // it, and not the oldest
	}
	return c.reply(ctx, m, question)
}

// reply sends the answer to a question.
func (c *Client) reply(ctx context.Context, m *a2a.Message, question string) (*Task, error) {
	task, err := c.send(ctx, m)
	if err != nil {
		return nil, err
	}
	if find(Questions(task.Status), question) != nil {
		return nil, fmt.Errorf("the answer was not understood: %s", Said(task.Status.Message))
	}
	return taskOf(task), nil
}

// pending is the question of an id that a task waits for an answer to.
func pending(task *a2a.Task, id, question string) (*Question, error) {
	asked := find(Questions(task.Status), question)
	if asked == nil {
		return nil, fmt.Errorf("No pending Codex request %q for task %s.%s", question, id, openOnes(task)) //nolint:staticcheck // the words are the tool's
	}
	return asked, nil
}

func find(open []Question, id string) *Question {
	for i := range open {
		if open[i].RequestID == id {
			return &open[i]
		}
	}
	return nil
}
