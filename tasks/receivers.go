package tasks

import (
	"context"
	"errors"
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

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

// A broughtPush is a setting that comes with a message, and what to put in its place if the
// message is refused after all.
type broughtPush struct {
	id        string
	receivers []receiver  // of the task without it
	replaced  *store.Push // nil if it takes the place of none
}

// bringPush looks what a setting that comes with a message will replace; nil stays nil.
// Its caller passes meanwhile (admission.go).
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

// withdrawPush takes back the setting that came with a refused message; nil is none.
// Its caller passes meanwhile (admission.go).
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

// settings returns those of a task, in the order of their ids.
func (e *Engine) settings(ctx context.Context, id a2a.TaskID) ([]push.Setting, error) {
	rows, err := e.cfg.Journal.Pushes(ctx, string(id))
	if err != nil {
		return nil, err
	}
	all := make([]push.Setting, len(rows))
	for i, row := range rows {
		if all[i], err = push.Decode(row); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (e *Engine) pushError(id a2a.TaskID, doing string, err error) error {
	if errors.Is(err, store.ErrUnknown) {
		return refusal.NotFound(id)
	}
	return e.journalError(doing, err)
}

// addSetting commits a setting of a task. Its caller passes meanwhile (admission.go).
func (e *Engine) addSetting(ctx context.Context, id a2a.TaskID, s *setting) error {
	const doing = "store the push notification setting"
	known, err := e.receivers(ctx, id)
	if err != nil {
		return e.pushError(id, doing, err)
	}
	t := e.live.find(id)
	if err := e.takesSetting(t, known, s.receiver()); err != nil {
		return err
	}
	if err := e.cfg.Journal.SetPush(ctx, string(id), s.row); err != nil {
		return e.pushError(id, doing, err)
	}
	if t != nil {
		t.lock()
		defer t.unlock()
		t.adopt(s)
	}
	return nil
}

type v0Key struct{}

// WithV0 returns the context of a call whose caller speaks A2A 0.3. A push
// notification setting that the call makes is answered in that version.
func WithV0(ctx context.Context) context.Context { return context.WithValue(ctx, v0Key{}, true) }

// version is that of the A2A which a caller speaks.
func version(ctx context.Context) string {
	if ctx.Value(v0Key{}) == true {
		return push.V0
	}
	return push.V1
}

// readPush reads the setting that a message brings with it.
func (e *Engine) readPush(ctx context.Context, req *a2a.SendMessageRequest, in *incoming) error {
	if req.Config == nil || req.Config.PushConfig == nil {
		return nil
	}
	s, err := e.readSetting(ctx, req.Config.PushConfig)
	if err != nil {
		return err
	}
	in.push, in.unnamed = s, req.Config.PushConfig.ID == ""
	return nil
}

// pushAgain sees to it that a message that is sent again has the setting which
// it brings. Its caller passes meanwhile (admission.go).
func (e *Engine) pushAgain(ctx context.Context, in *incoming, task *a2a.Task) error {
	if in.push == nil || task.Status.State.Terminal() {
		return nil
	}
	if in.unnamed {
		known, err := e.settings(ctx, task.ID)
		if err != nil {
			return e.pushError(task.ID, "load the push notification settings", err)
		}
		if slices.ContainsFunc(known, func(s push.Setting) bool { return sameReceiver(s, in.push.Setting) }) {
			return nil
		}
	}
	return e.addSetting(ctx, task.ID, in.push)
}

func sameReceiver(a, b push.Setting) bool {
	auth := func(s push.Setting) a2a.PushAuthInfo {
		if s.Config.Auth == nil {
			return a2a.PushAuthInfo{}
		}
		return *s.Config.Auth
	}
	return a.Version == b.Version && a.Config.URL == b.Config.URL && a.Config.Token == b.Config.Token && auth(a) == auth(b)
}
