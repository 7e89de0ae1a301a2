package channel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// resume follows the tasks that have said something before an earlier process ended, and
// may say more.
func (d *chats) resume(work context.Context) {
	rows, err := d.cfg.Store.InboxTasks(work)
	if err != nil {
		d.log.Error("the tasks that may still say something are not known", "err", err)
	}
	for _, row := range rows {
		if d.cfg.Has == nil || d.cfg.Has(row.Task) {
			d.follow(work, row)
		}
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
	t := d.newTrail(row)
	d.wg.Go(func() {
		for more := true; more && d.listen(work, row, t); {
			more = d.another(t)
		}
	})
}

// tasks are those that are followed.
func (d *chats) tasks() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.follows))
}

// listen keeps what a task says until it has ended, and reports whether it has.
func (d *chats) listen(work context.Context, row store.InboxRow, t *trail) bool {
	for failures := 0; ; failures++ {
		err := d.cfg.Engine.Follow(work, row.Task, func(a Answer) error {
			if a.Aside && row.Peer != "" {
				return nil
			}
			d.inTurn(work, t.before)
			if a.Read && !d.drain(work, row, "it was read, and is not answered") {
				return context.Cause(work)
			}
			if a.Read {
				return nil
			}
			if !d.keepForUser(work, row, a) || !d.keep(work, row, a) {
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
			d.log.Warn("a task is gone before it was answered", "task_id", row.Task, "activity", row.Activity)
			return d.persist(work, func() error {
				return errors.Join(d.cfg.Store.EndInboxTask(work, row.Task), d.cfg.Store.DrainInbox(work, row.N, "its task is gone"))
			})
		}
		d.log.Debug("a task cannot be followed; this is tried again", "task_id", row.Task, "err", err)
		if !sleep.For(work, pause(failures, nil)) {
			return false
		}
	}
}

// keepForUser commits what the user is told of another agent's message. It has one id a day,
// so it is said once, however many messages wait and however often we are started.
func (d *chats) keepForUser(ctx context.Context, row store.InboxRow, a Answer) bool {
	if a.ForUser == "" || row.Peer == "" {
		return true
	}
	beside := row
	beside.Chat, beside.Peer, beside.Task = names{workspace: row.Workspace}.canvas(), "", ""
	id := fmt.Sprintf("%s-%s-%x", row.Workspace, time.Now().UTC().Format(time.DateOnly), digestOf(a.ForUser)[:4])
	return d.keep(ctx, beside, Answer{ID: id, Text: a.ForUser, Aside: true})
}

// keep commits an answer, to be sent.
func (d *chats) keep(ctx context.Context, row store.InboxRow, a Answer) bool {
	reply := store.InboxReply{
		ID: a.ID, Workspace: row.Workspace, Chat: row.Chat, Peer: row.Peer, Task: row.Task, Final: a.Final, Aside: a.Aside,
		Body: said{Text: a.Text, Files: a.Files}.encode(), Digest: digestOf(a.Text),
	}
	kept := false
	ok := d.persist(ctx, func() (err error) {
		kept, err = d.cfg.Store.AnswerInbox(ctx, row.N, reply)
		return err
	})
	if ok && !kept && !a.Aside {
		d.log.Warn("a message was read and is not answered", "workspace", row.Workspace, "chat", row.Chat, "activity", row.Activity, "why", row.Mute)
	}
	return ok
}
