package appserver

import "context"

// mostQueued is how many entries of a thread's queue are asked for at once.
const mostQueued = 100

// QueueEmpty deletes what waits in codex's own queue for its turn on a thread, which need not be
// loaded, and returns how many entries those were. Every process that may write the home of codex
// can put some there, and codex begins a turn for each as soon as the thread is loaded and idle.
func (c *Client) QueueEmpty(ctx context.Context, threadID string) (deleted int, err error) {
	for {
		var page queuedPage
		err := c.Call(ctx, "thread/queue/list", queuedParams{ThreadID: threadID, Limit: mostQueued}, &page)
		if err != nil || len(page.Data) == 0 {
			return deleted, err
		}
		for _, entry := range page.Data {
			if err := c.Call(ctx, "thread/queue/delete", unqueueParams{ThreadID: threadID, ID: entry.ID}, nil); err != nil {
				return deleted, err
			}
			deleted++
		}
	}
}

type queuedParams struct {
	ThreadID string `json:"threadId"`
	Limit    int    `json:"limit"`
}

type queuedPage struct {
	Data []queuedEntry `json:"data"`
}

type queuedEntry struct {
	ID string `json:"id"`
}

type unqueueParams struct {
	ThreadID string `json:"threadId"`
	ID       string `json:"queuedSubmissionId"`
}
