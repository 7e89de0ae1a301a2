package outside

import (
	"context"
	"time"
)

// Elsewhere is an inbox that this process never keeps. It implements [toolset.Inbox].
type Elsewhere struct{ Why string }

func (e Elsewhere) words() string {
	return e.Why + " There is nothing to wait for here. The other tools work."
}

// Keeps implements [toolset.Inbox].
func (Elsewhere) Keeps() bool { return false }

// Wait implements [toolset.Inbox].
func (e Elsewhere) Wait(context.Context, time.Duration) (string, error) { return e.words(), nil }

// Peek implements [toolset.Inbox].
func (e Elsewhere) Peek(int, string, int) (string, error) { return e.words(), nil }

// Pop implements [toolset.Inbox].
func (e Elsewhere) Pop(_ context.Context, id string) (string, error) {
	return pretty(map[string]any{"removed": false, "activity_id": id, "note": e.words()})
}

// Reply implements [toolset.Inbox].
func (e Elsewhere) Reply(_ context.Context, id, _ string, _ []string) (string, error) {
	return pretty(map[string]any{"replied": false, "activity_id": id, "note": e.words()})
}

// Telling implements [toolset.Inbox].
func (Elsewhere) Telling(context.Context, string, string, string) (func(error), error) {
	return func(error) {}, nil
}
