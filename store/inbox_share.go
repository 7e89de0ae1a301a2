package store

import "context"

// An InboxShare bounds the bytes that chats have in an inbox, in the rows that are not
// finished. What is one too many is kept without its body, so that it neither fills the
// disk nor holds up the rows behind it.
type InboxShare struct {
	Spared  string // a chat without a bound
	Free    int    // a body of no more bytes is always kept
	Each    int64  // that the bodies of a chat have together
	All     int64  // that those of all chats have, but the one that is spared
	Instead []byte // the body of a row for which there is no room
}

// InboxBytes says how many the rows of a workspace have that are not finished.
func (s *Store) InboxBytes(ctx context.Context, workspace string) (int64, error) {
	return view(ctx, s, "weigh the inbox", func(c *conn) (all int64, err error) {
		err = c.weighInbox(workspace, func(_ string, size int64) { all += size })
		return all, err
	})
}

// weighInbox tells the size of each row that is not finished. It reads no body, which
// SQLite would to sort or to group them.
func (c *conn) weighInbox(workspace string, tell func(chat string, size int64)) error {
	return c.each("SELECT chat, length(body) FROM inbox INDEXED BY inbox_unfinished WHERE workspace = ? AND state IN ('accepted', 'given', 'answered')", list(workspace), func(r scanner) error {
		var chat string
		var size int64
		err := r.Scan(&chat, &size)
		tell(chat, size)
		return err
	})
}

// Shares are what the chats of a page have in the inbox.
type shares struct {
	InboxShare
	weigh func(tell func(chat string, size int64)) error
	chats map[string]int64 // nil until it is asked for
	all   int64
}

func (c *conn) shares(page *InboxPage) *shares {
	return &shares{InboxShare: page.Share, weigh: func(tell func(string, int64)) error {
		return c.weighInbox(page.Workspace, tell)
	}}
}

// body is what is kept of a row.
func (h *shares) body(r *InboxRow) ([]byte, error) {
	if h.Each == 0 || r.Chat == h.Spared || len(r.Body) <= h.Free || r.State != InboxAccepted {
		return r.Body, nil
	}
	if h.chats == nil {
		h.chats = map[string]int64{}
		if err := h.weigh(h.count); err != nil {
			return nil, err
		}
	}
	size := int64(len(r.Body))
	if h.chats[r.Chat]+size > h.Each || h.all+size > h.All {
		return h.Instead, nil
	}
	return r.Body, nil
}

// add counts a row that was accepted.
func (h *shares) add(r *InboxRow, size int) {
	if h.chats != nil && r.State == InboxAccepted {
		h.count(r.Chat, int64(size))
	}
}

func (h *shares) count(chat string, bytes int64) {
	if chat != h.Spared {
		h.chats[chat] += bytes
		h.all += bytes
	}
}
