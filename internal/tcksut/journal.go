package main

import (
	"context"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// messageIDs is a journal that remembers which message a job was made of: the
// suite says by the id of a message what is to become of it, and a runner does
// not get to see it. It does not remember messages themselves: the suite sends
// many messages under one id in a run, which the runtime takes for one message
// that is sent again.
type messageIDs struct {
	tasks.Journal

	mu    sync.Mutex // guards byJob
	byJob map[string]string
}

// Find implements [tasks.Journal].
func (j *messageIDs) Find(context.Context, tasks.Key) (tasks.Entry, error) {
	return tasks.Entry{}, tasks.ErrUnknown
}

// Accept implements [tasks.Journal].
func (j *messageIDs) Accept(ctx context.Context, entry tasks.Entry, task *a2a.Task) error {
	j.mu.Lock()
	j.byJob[entry.JobID] = entry.Key.MessageID
	j.mu.Unlock()
	return j.Journal.Accept(ctx, entry, task)
}

func (j *messageIDs) of(jobID string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.byJob[jobID]
}
