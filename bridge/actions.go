package bridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
)

// largestPage is that of a list of tasks.
const largestPage = 100

// A StartAnswer says that a task was started.
type StartAnswer struct {
	Success  bool     `json:"success"`
	Message  string   `json:"message"`
	Task     *Task    `json:"task"`
	Protocol Protocol `json:"protocol"`
}

// A Protocol says how the task is talked to.
type Protocol struct {
	Transport string `json:"transport"`
	Mailbox   bool   `json:"mailbox"`
}

// A TaskAnswer says how a task is, and what was done with it.
type TaskAnswer struct {
	Success  bool  `json:"success"`
	Task     *Task `json:"task"`
	Result   any   `json:"result,omitempty"`
	Response any   `json:"response,omitempty"`
}

// A ListAnswer has the tasks whose status is the newest, first.
type ListAnswer struct {
	Success bool    `json:"success"`
	Tasks   []*Task `json:"tasks"`
}

// A FailureAnswer says that there is nothing to say.
type FailureAnswer struct {
	Success bool   `json:"success"`
	Error   string `json:"error"`
}

func (c *Client) start(ctx context.Context, a Args) (any, error) {
	if err := a.checkStart(c.cfg.CodexHome); err != nil {
		return nil, err
	}
	id := a.TaskID
	if id == "" {
		id = NewID()
	}
	m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(a.Prompt))
	m.ID, m.ContextID = id, id
	m.Metadata = a.wishes()
	task, err := c.send(ctx, m)
	if err != nil {
		return nil, err
	}
	return StartAnswer{
		Success: true, Message: "Codex task started over A2A.", Task: taskOf(task),
		Protocol: Protocol{Transport: "A2A 1.0 JSON-RPC"},
	}, nil
}

func (c *Client) status(ctx context.Context, id string) (any, error) {
	task, err := c.find(ctx, id)
	if _, ok := errors.AsType[*UnknownError](err); ok {
		return FailureAnswer{Error: err.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	t := taskOf(task)
	if err := c.look(ctx, task, t); err != nil {
		return nil, err
	}
	if task.Status.State.Terminal() {
		t.Active = new(bool)
	}
	return TaskAnswer{Success: true, Task: t}, nil
}

func (c *Client) list(ctx context.Context, limit int) (any, error) {
	answer := ListAnswer{Success: true, Tasks: []*Task{}}
	request := a2a.ListTasksRequest{PageSize: min(limit, largestPage), IncludeArtifacts: true}
	for {
		var page a2a.ListTasksResponse
		if err := c.call(ctx, "ListTasks", request, &page); err != nil {
			return nil, err
		}
		for _, task := range page.Tasks {
			t := taskOf(task)
			if !task.Status.State.Terminal() {
				if err := c.look(ctx, task, t); err != nil {
					return nil, err
				}
				t.Recent = nil
			}
			if answer.Tasks = append(answer.Tasks, t); len(answer.Tasks) == limit {
				return answer, nil
			}
		}
		if request.PageToken = page.NextPageToken; request.PageToken == "" {
			return answer, nil
		}
	}
}

// active returns a task that has not ended.
func (c *Client) active(ctx context.Context, id string) (*a2a.Task, error) {
	task, err := c.find(ctx, id)
	if err == nil && task.Status.State.Terminal() {
		err = fmt.Errorf("Codex bridge task %s is not active: it has ended (%s)", id, statusOf(task)) //nolint:staticcheck // the words are the tool's
	}
	return task, err
}

func (c *Client) steer(ctx context.Context, id, instruction string) (any, error) {
	task, err := c.active(ctx, id)
	if err != nil {
		return nil, err
	}
	if open := Questions(task.Status); len(open) > 0 { // a message would be taken for the answer
		return nil, fmt.Errorf("Codex bridge task %s waits for an answer: respond to %s first", id, open[0].RequestID) //nolint:staticcheck // the words are the tool's
	}
	m := a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart(instruction))
	m.Metadata = newestWishes(task)
	if len(task.History) > 0 && task.History[0].Metadata[keyBridge] == true {
		if m.Metadata == nil {
			m.Metadata = map[string]any{}
		}
		m.Metadata[keyBridge] = true
	}
	if task, err = c.send(ctx, m); err != nil {
		return nil, err
	}
	result := map[string]any{"turnId": task.Metadata[keyTurnID], "turn": task.Metadata[keyTurn]}
	if ahead := task.Metadata[keyAhead]; ahead != nil {
		result["ahead"] = ahead
	}
	return TaskAnswer{Success: true, Task: taskOf(task), Result: result}, nil
}

func (c *Client) interrupt(ctx context.Context, id string) (any, error) {
	task, err := c.active(ctx, id)
	if err != nil {
		return nil, err
	}
	var canceled a2a.Task
	if err := c.call(ctx, "CancelTask", a2a.CancelTaskRequest{ID: task.ID}, &canceled); err != nil {
		return nil, err
	}
	return TaskAnswer{Success: true, Task: taskOf(&canceled), Result: map[string]any{}}, nil
}

// newestWishes are what the newest message of a task asks for that asks for anything: so does
// a steer, to be part of its turn, and to have no other leave where it gets one of its own.
// Messages that ask for nothing, as answers do, are part of the turn before them.
func newestWishes(task *a2a.Task) map[string]any {
	for _, m := range slices.Backward(task.History) {
		asked := map[string]any{}
		for _, key := range []string{keyCwd, keyModel, keySandbox, keyPolicy} {
			if value := text(m.Metadata, key); value != nil && *value != "" {
				asked[key] = *value
			}
		}
		if len(asked) > 0 {
			return asked
		}
	}
	return nil
}

// wishes are what the message asks for beside its text.
func (a Args) wishes() map[string]any {
	meta := map[string]any{
		keySandbox: a.Sandbox, keyPolicy: a.ApprovalPolicy, keyNotify: strings.TrimSpace(a.NotifyTarget),
		keyBridge:  true,
		keyCreated: time.Now().UTC().Format(time.RFC3339Nano),
	}
	for key, value := range map[string]string{keyCwd: a.Cwd, keyModel: a.Model} {
		if value != "" {
			meta[key] = value
		}
	}
	return meta
}
