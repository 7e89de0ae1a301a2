package appserver

import (
	"encoding/json"
	"strings"
)

// A Notification is something that the child told on its own account. Its body
// has not been decoded, nor checked beyond its outline.
type Notification struct {
	Method   string
	ThreadID string          // empty for what belongs to no thread
	Params   json.RawMessage // the reader's to keep
}

// NoteOverflow is a notification of ours, not of codex: it stands in a thread's
// queue where something is missing. Its body is an [OverflowNote]. Missing
// deltas are repeated by the completed item; anything else has to be read from
// the thread's history (see [Client.TurnsList]).
const NoteOverflow = "runtime/overflow"

// OverflowNote is the body of NoteOverflow.
type OverflowNote struct {
	Method string `json:"method"` // of the first that is missing; empty if it could not be made out
	Bytes  int64  `json:"bytes"`  // length of the line, where a line was too long
	Deltas bool   `json:"deltas"` // deltas are missing, and nothing else
}

func overflow(threadID string, note OverflowNote) Notification {
	params, err := json.Marshal(note)
	if err != nil {
		params = nil // cannot be: two scalars and a string
	}
	return Notification{Method: NoteOverflow, ThreadID: threadID, Params: params}
}

// isDelta reports whether a later notification repeats what this one says:
// codex names such pieces …/delta and …Delta.
func isDelta(method string) bool { return strings.HasSuffix(method, "elta") }

// cost is what a notification counts in the bound of its queue.
func (n Notification) cost() int { return len(n.Params) + 100 }

// methods holds the names of frequent notifications, so that routing one does
// not allocate its name anew.
type methods map[string]string

func newMethods() methods {
	known := methods{}
	for _, name := range []string{
		NoteTurnStarted, NoteTurnCompleted, NoteItemStarted, NoteItemCompleted,
		NoteAgentMessageDelta, NoteReasoningSummary, NoteCommandOutput, NoteFilePatch,
		NoteMcpProgress, NotePlanUpdated, NoteDiffUpdated, NoteTokenUsage,
		NoteThreadStatus, NoteRateLimits, NoteError,
	} {
		known[name] = name
	}
	return known
}

func (m methods) name(b []byte) string {
	if name, ok := m[string(b)]; ok {
		return name
	}
	return string(b)
}
