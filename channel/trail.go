package channel

import (
	"context"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A trail is what is known of a task that is followed. The mutex of the chats guards it.
type trail struct {
	task   string
	chat   string
	before *trail        // that of an earlier task of the chat, nil if none was followed
	again  bool          // another row has become part of the task
	over   chan struct{} // closed when what the task has said is kept
}

// newTrail puts a trail behind the others of the chat. The caller holds the mutex.
func (d *chats) newTrail(row store.InboxRow) *trail {
	t := &trail{task: row.Task, chat: chatOf(row), before: d.live(d.last[chatOf(row)]), over: make(chan struct{})}
	d.follows[t.task], d.last[t.chat] = t, t
	return t
}

// live returns the trail, or the next before it that is not over. The caller holds the mutex.
func (d *chats) live(t *trail) *trail {
	for t != nil && d.follows[t.task] != t {
		t = t.before
	}
	return t
}

func chatOf(row store.InboxRow) string { return row.Workspace + " " + row.Chat }

// another reports whether a row has become part of the task meanwhile, which its end may
// have missed. If not, nobody follows it any more.
func (d *chats) another(t *trail) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t.again {
		t.again = false
		return true
	}
	delete(d.follows, t.task)
	if d.last[t.chat] == t {
		if d.last[t.chat] = d.live(t.before); d.last[t.chat] == nil {
			delete(d.last, t.chat)
		}
	}
	close(t.over)
	d.news.beat()
	return false
}

// before returns the trail of the chat that a row stands behind.
func (d *chats) before(row store.InboxRow) *trail {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.last[chatOf(row)]
}

// inTurn waits until the answers to earlier rows of the chat are kept whose tasks have
// ended: several that end at once, or have ended before we were started, are answered in
// the order in which they were asked. One that still runs is not waited for: a message
// behind it may have been canceled, or refused. It is enough to wait for the last that
// has ended, for that has waited for those before it.
func (d *chats) inTurn(ctx context.Context, t *trail) {
	for ; t != nil; t = t.before {
		if !d.cfg.Engine.Over(ctx, t.task) {
			continue
		}
		select {
		case <-t.over:
		case <-ctx.Done():
		}
		return
	}
}
