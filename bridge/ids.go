package bridge

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"
)

// ours matches the ids that the bridge gives.
var ours = regexp.MustCompile(`^codex-[0-9a-f]{12}$`)

// NewID returns an id for a task.
func NewID() string {
	return "codex-" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
}

// nameOf is the id by which a task goes here.
func nameOf(t *a2a.Task) string {
	if ours.MatchString(t.ContextID) && len(t.History) > 0 && t.History[0].ID == t.ContextID {
		return t.ContextID
	}
	return string(t.ID)
}

// An UnknownError reports that the runtime has no task of that id, or has it no more.
type UnknownError struct{ ID string }

func (e *UnknownError) Error() string { return "Unknown Codex bridge task: " + e.ID }

// find returns the A2A task of an id. One that was run again, after it had been cut
// off, is a new task under the id that it had: the newest counts.
func (c *Client) find(ctx context.Context, id string) (*a2a.Task, error) {
	if !ours.MatchString(id) {
		var task a2a.Task
		err := c.call(ctx, "GetTask", a2a.GetTaskRequest{ID: a2a.TaskID(id)}, &task)
		if refused, ok := errors.AsType[*RefusedError](err); ok && refused.Code == codeNoTask {
			return nil, &UnknownError{id}
		}
		return &task, err
	}
	request := a2a.ListTasksRequest{ContextID: id, IncludeArtifacts: true, PageSize: largestPage}
	for {
		var page a2a.ListTasksResponse
		if err := c.call(ctx, "ListTasks", request, &page); err != nil {
			return nil, err
		}
		for _, task := range page.Tasks {
			if nameOf(task) == id {
				return task, nil
			}
		}
		if page.NextPageToken == "" {
			return nil, &UnknownError{id}
		}
		request.PageToken = page.NextPageToken
	}
}
