package tasks

import (
	"context"
	"errors"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
)

// A receiver is what a task that has not ended has in memory of a setting. Where it leads,
// and its secrets, are read when something is posted.
type receiver struct {
	id      string
	version string // [push.V0] or [push.V1]
	size    int    // of the setting, as it is kept
}

// A setting is one that a caller has sent.
type setting struct {
	push.Setting
	row store.Push
}

func (s *setting) receiver() receiver { return newReceiver(s.Setting, s.row) }

func newReceiver(s push.Setting, row store.Push) receiver {
	r := receiver{id: row.ID, version: push.V1, size: len(row.Body)}
	if s.Version == push.V0 {
		r.version = push.V0
	}
	return r
}

// receivers returns those of the settings of a task.
func (e *Engine) receivers(ctx context.Context, id a2a.TaskID) ([]receiver, error) {
	rows, err := e.cfg.Journal.Pushes(ctx, string(id))
	if err != nil {
		return nil, err
	}
	all := make([]receiver, len(rows))
	for i, row := range rows {
		s, err := push.Decode(row)
		if err != nil {
			return nil, err
		}
		all[i] = newReceiver(s, row)
	}
	return all, nil
}

func without(all []receiver, id string) []receiver {
	return slices.DeleteFunc(slices.Clone(all), func(r receiver) bool { return r.id == id })
}

// pushRow is what the journal keeps of a setting that comes with a message; nil
// stays nil. The caller holds t.mu.
func (t *task) pushRow(s *setting) (*store.Push, error) {
	if s == nil {
		return nil, nil
	}
	if err := t.engine.takesSetting(t, t.pushes, s.receiver()); err != nil {
		return nil, err
	}
	return &s.row, nil
}

// adopt takes a setting that is committed; nil changes nothing. The caller holds t.mu.
func (t *task) adopt(s *setting) {
	if s != nil {
		t.pushes = append(without(t.pushes, s.row.ID), s.receiver())
	}
}

// A broughtPush is a setting that comes with a message, and what to put in its place if the
// message is refused after all.
type broughtPush struct {
	id        string
	receivers []receiver  // of the task without it
	replaced  *store.Push // nil if it takes the place of none
}

// bringPush looks what a setting that comes with a message will replace; nil stays nil. The
// caller holds e.admit.
func (e *Engine) bringPush(ctx context.Context, t *task, s *setting) (*broughtPush, error) {
	if s == nil {
		return nil, nil
	}
	t.lock()
	b := &broughtPush{id: s.row.ID, receivers: t.pushes}
	t.unlock()
	if len(without(b.receivers, b.id)) == len(b.receivers) {
		return b, nil
	}
	rows, err := e.cfg.Journal.Pushes(ctx, string(t.id))
	if err != nil {
		return nil, e.pushError(t.id, "load the push notification settings", err)
	}
	if i := slices.IndexFunc(rows, func(row store.Push) bool { return row.ID == b.id }); i >= 0 {
		b.replaced = &rows[i]
	}
	return b, nil
}

// withdrawPush takes back the setting that came with a refused message; nil is none. The
// caller holds e.admit.
func (e *Engine) withdrawPush(ctx context.Context, t *task, b *broughtPush) {
	if b == nil {
		return
	}
	t.lock()
	t.pushes = b.receivers
	t.unlock()
	var err error
	if b.replaced != nil {
		err = e.cfg.Journal.SetPush(ctx, string(t.id), *b.replaced)
	} else {
		err = e.cfg.Journal.DropPush(ctx, string(t.id), b.id)
	}
	if err != nil && !errors.Is(err, store.ErrUnknown) { // unknown: the task has gone with the message
		e.log.Error("a push notification setting could not be withdrawn", "task_id", t.id, "err", err)
	}
}
