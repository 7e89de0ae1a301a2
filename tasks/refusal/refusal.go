// Package refusal makes the errors whose texts are for callers.
package refusal

import (
	"fmt"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
)

// New returns an error whose text is for the caller.
func New(sentinel error, format string, args ...any) error {
	return a2a.NewError(sentinel, fmt.Sprintf(format, args...))
}

// NotFound refuses a task that is not there, or not for its caller.
func NotFound(id a2a.TaskID) error {
	id = a2a.TaskID(brief.Clip(string(id), 64))
	return a2a.NewError(a2a.ErrTaskNotFound, fmt.Sprintf("Task not found: there is no task %q", id)).
		WithErrorInfoMeta(map[string]string{"taskId": string(id)})
}

// InState refuses what the state of a task does not allow.
func InState(sentinel error, task *a2a.Task, format string, args ...any) error {
	return a2a.NewError(sentinel, fmt.Sprintf(format, args...)).
		WithErrorInfoMeta(map[string]string{"taskId": string(task.ID), "state": string(task.Status.State)})
}
