package channel

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// A said is what a reply says, as it is kept.
type said struct {
	Text  string `json:"text"`
	Files []File `json:"files,omitempty"`

	// What became of the files, once they have been put where the reader can have them.
	Attached []platform.Attachment `json:"attached,omitempty"`
	Settled  bool                  `json:"settled,omitempty"`
	Failures int                   `json:"failures,omitempty"`
	Instead  bool                  `json:"instead,omitempty"` // of a reply that was refused
}

func (s said) encode() []byte {
	body, _ := json.Marshal(s) // of such a type it never fails
	return body
}

func digestOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// resume follows the tasks that have said something before an earlier process ended, and
// may say more.
func (d *chats) resume(work context.Context) {
	rows, err := d.channel.cfg.Store.InboxTasks(work)
	if err != nil {
		d.channel.log.Error("the tasks that may still say something are not known", "err", err)
	}
	for _, row := range rows {
		d.follow(work, row)
	}
}

func (d *chats) followed(task string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.follows[task] != nil
}

// follow keeps what the task of a row says. There is one who does for each task.
func (d *chats) follow(work context.Context, row store.InboxRow) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.follows[row.Task]; t != nil {
		t.again = true
		return
	}
	t := &trail{chat: chatOf(row), n: row.N}
	d.follows[row.Task] = t
	d.wg.Go(func() {
		for more := true; more && d.listen(work, row); {
			more = d.another(row.Task, t)
		}
	})
}

// another reports whether a row has become part of the task meanwhile, which its end may
// have missed. If not, nobody follows it any more.
func (d *chats) another(task string, t *trail) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if t.again {
		t.again = false
		return true
	}
	delete(d.follows, task)
	d.channel.news.beat()
	return false
}

// tasks are those that are followed.
func (d *chats) tasks() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.follows))
}

func chatOf(row store.InboxRow) string { return row.Workspace + " " + row.Chat }

// inTurn waits until the answers to earlier rows of the chat are kept whose tasks have
// ended: several that end at once, or have ended before we were started, are answered in
// the order in which they were asked. An earlier one that still runs is not waited for.
func (d *chats) inTurn(ctx context.Context, row store.InboxRow) {
	d.channel.until(ctx, func() bool {
		return !slices.ContainsFunc(d.earlier(row), func(task string) bool { return d.channel.cfg.Engine.Over(ctx, task) })
	})
}

// earlier are the tasks of earlier rows of the chat that are followed.
func (d *chats) earlier(row store.InboxRow) (tasks []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for task, t := range d.follows {
		if t.n < row.N && task != row.Task && t.chat == chatOf(row) {
			tasks = append(tasks, task)
		}
	}
	return tasks
}

// listen keeps what a task says until it has ended, and reports whether it has.
func (d *chats) listen(work context.Context, row store.InboxRow) bool {
	for failures := 0; ; failures++ {
		err := d.channel.cfg.Engine.Follow(work, row.Task, func(a Answer) error {
			if a.Aside && row.Peer != "" {
				return nil
			}
			d.inTurn(work, row)
			if !d.keep(work, row, a) {
				return context.Cause(work)
			}
			return nil
		})
		switch {
		case err == nil:
			return true
		case work.Err() != nil:
			return false
		case errors.Is(err, ErrGone):
			d.channel.log.Warn("a task is gone before it was answered", "task_id", row.Task, "activity", row.Activity)
			return d.persist(work, func() error {
				return errors.Join(d.channel.cfg.Store.EndInboxTask(work, row.Task), d.channel.cfg.Store.DrainInbox(work, row.N, "its task is gone"))
			})
		}
		d.channel.log.Debug("a task cannot be followed; this is tried again", "task_id", row.Task, "err", err)
		if !sleep(work, pause(failures, nil)) {
			return false
		}
	}
}

// keep commits an answer, to be sent.
func (d *chats) keep(ctx context.Context, row store.InboxRow, a Answer) bool {
	reply := store.InboxReply{
		ID: a.ID, Workspace: row.Workspace, Chat: row.Chat, Peer: row.Peer, Task: row.Task, Final: a.Final,
		Body: said{Text: a.Text, Files: a.Files}.encode(), Digest: digestOf(a.Text),
	}
	kept := false
	ok := d.persist(ctx, func() (err error) {
		kept, err = d.channel.cfg.Store.AnswerInbox(ctx, row.N, reply)
		return err
	})
	if ok && !kept {
		d.channel.log.Warn("a message was read and is not answered", "workspace", row.Workspace, "chat", row.Chat, "activity", row.Activity, "why", row.Mute)
	}
	return ok
}
