package main

import (
	"context"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
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

// Message implements [tasks.Journal].
func (j *messageIDs) Message(context.Context, store.Key) (store.Message, error) {
	return store.Message{}, store.ErrUnknown
}

// Accept implements [tasks.Journal].
func (j *messageIDs) Accept(ctx context.Context, m store.Message, head store.Head) error {
	j.mu.Lock()
	j.byJob[m.Job] = m.Key.Message
	j.mu.Unlock()
	return j.Replace(ctx, m, head)
}

func (j *messageIDs) of(jobID string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.byJob[jobID]
}
