package tasks

import (
	"encoding/json"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/codec"
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
	lapse
	Unseen   lapse `json:"unseen,omitzero"`
	Promised bool  `json:"promised,omitempty"` // the user was told that the answer comes
	Sorted   bool  `json:"sorted,omitempty"`   // its messages were kept by who sent them; earlier versions did not
}

// row returns the task's head for the journal.
func (t *state) row() store.Head {
	told := t.told
	if told == t.status.State {
		told = ""
	}
	return store.Head{
		ID: string(t.id), Context: t.contextID, Conversation: t.conversation,
		State: string(t.status.State), At: statusTime(t.status), Ended: t.status.State.Terminal(),
		Body:  codec.Encode(head{t.status, t.meta, t.turns, t.messages, t.canceling, told, t.owed, t.words.gone, t.words.unseen, t.promised, t.sorted}),
		Class: t.class,
	}
}

// statusTime is the time of a status, which lists are sorted by.
func statusTime(s a2a.TaskStatus) time.Time {
	if s.Timestamp == nil {
		return time.Time{}
	}
	return *s.Timestamp
}

// readHead reads the head of a task. With an error it is what the row has beside it.
func readHead(row store.Head) (head, error) {
	var h head
	err := json.Unmarshal(row.Body, &h)
	if err != nil {
		h = head{Status: a2a.TaskStatus{State: a2a.TaskState(row.State), Timestamp: &row.At, Message: codec.UnreadMessage(0)}}
	}
	return h, err
}
