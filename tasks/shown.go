package tasks

import (
	"math"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// trimmed returns the task with the newest n messages of its history, or all of
// them. The struct is the caller's own.
func trimmed(task *a2a.Task, n *int) *a2a.Task {
	out := *task
	if n != nil && *n < len(out.History) {
		out.History = out.History[len(out.History)-*n:]
	}
	return &out
}

func checkHistory(n *int) error {
	switch {
	case n == nil:
		return nil
	case *n < 0:
		return refusal.New(a2a.ErrInvalidParams, "historyLength is %d; it must not be negative", *n)
	case *n > math.MaxInt32:
		return refusal.New(a2a.ErrInvalidParams, "historyLength is %d; it must be a whole number of 32 bits", *n)
	}
	return nil
}

// addressed is the task as the sender of a message sees it: it may have become part of
// one that another context began.
func addressed(task *a2a.Task, given string) *a2a.Task {
	if given == "" || given == task.ContextID {
		return task
	}
	out := *task
	out.ContextID = given
	return &out
}
