package toolset

import "context"

type wait struct {
	Timeout float64 `json:"timeout_secs,omitempty" jsonschema:"how long to wait; 60 if left out, at most 300"`
}

type peek struct {
	Limit int `json:"limit,omitempty" jsonschema:"how many; 10 if left out"`
}

type pop struct {
	ID string `json:"activity_id" jsonschema:"the id of the message"`
}

// pushed is said where messages come as turns of their own, so that there is nothing
// to wait for.
const pushed = "This workspace gets its messages by itself: each comes as a turn of its own, and a new one of the user may come into this turn. " +
	"There is no inbox to look into. Finish your turn, and answer when a message comes."

func (s *Set) waitForMessage(context.Context, wait) (string, error) { return pushed, nil }

func (s *Set) inboxPeek(context.Context, peek) (string, error) { return pushed, nil }

func (s *Set) inboxPop(_ context.Context, a pop) (string, error) {
	return pretty(map[string]any{"removed": false, "activity_id": a.ID, "note": pushed})
}
