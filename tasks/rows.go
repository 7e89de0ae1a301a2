package tasks

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// head is what the journal keeps of a task beside its history and artifacts.
type head struct {
	Status    a2a.TaskStatus `json:"status"`
	Metadata  map[string]any `json:"metadata,omitempty"`
	Turns     int            `json:"turns"`               // messages taken in all
	Messages  int            `json:"messages,omitempty"`  // status messages made
	Canceling bool           `json:"canceling,omitempty"` // a cancel was asked for
	Told      a2a.TaskState  `json:"told,omitempty"`      // by push notifications, if that is another state
	Owed      bool           `json:"owed,omitempty"`      // the reply goes to the user if nobody waits for it
	Sorted    bool           `json:"sorted,omitempty"`    // its messages were kept by who sent them; earlier versions did not
}

// row returns the task's head for the journal. The caller holds t.mu.
func (t *task) row() store.Head {
	told := t.told
	if told == t.status.State {
		told = ""
	}
	return store.Head{
		ID: string(t.id), Context: t.contextID, Conversation: t.thread,
		State: string(t.status.State), At: statusTime(t.status), Ended: t.status.State.Terminal(),
		Body: encode(head{t.status, t.meta, t.turns, t.messages, t.canceling, told, t.owed, t.sorted}),
	}
}

// statusTime is the time of a status, which lists are sorted by.
func statusTime(s a2a.TaskStatus) time.Time {
	if s.Timestamp == nil {
		return time.Time{}
	}
	return *s.Timestamp
}

// kept makes a task of what the journal has of it.
func kept(row store.Task) (*a2a.Task, error) {
	var h head
	if err := json.Unmarshal(row.Body, &h); err != nil {
		return nil, fmt.Errorf("task %s in the journal: %w", row.ID, err)
	}
	history, err := decodeAll[a2a.Message](row.ID, row.History)
	if err != nil {
		return nil, err
	}
	artifacts, err := decodeAll[a2a.Artifact](row.ID, row.Artifacts)
	if err != nil {
		return nil, err
	}
	return &a2a.Task{
		ID: a2a.TaskID(row.ID), ContextID: row.Context,
		Status: h.Status, Metadata: withNotice(h.Metadata, row.Notice), History: history, Artifacts: artifacts,
	}, nil
}

func decodeAll[T any](taskID string, bodies [][]byte) ([]*T, error) {
	if len(bodies) == 0 {
		return nil, nil
	}
	out := make([]*T, len(bodies))
	for i, body := range bodies {
		out[i] = new(T)
		if err := json.Unmarshal(body, out[i]); err != nil {
			return nil, fmt.Errorf("task %s in the journal: %w", taskID, err)
		}
	}
	return out, nil
}

func encodeAll[T any](all []*T) [][]byte {
	out := make([][]byte, len(all))
	for i, v := range all {
		out[i] = encode(v)
	}
	return out
}
