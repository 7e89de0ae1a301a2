package tasks

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
)

// Bounds of what a setting can hold.
const (
	longestURL    = 4 << 10
	longestSecret = 8 << 10
	longestScheme = 64
)

// checkSetting says what is wrong with a setting. It quotes nothing of it.
func checkSetting(c *a2a.PushConfig) error {
	wrong := func(what string) error {
		return refuse(a2a.ErrInvalidParams, "the push notification setting is wrong: %s", what)
	}
	switch {
	case c.URL == "":
		return wrong("its url is missing")
	case len(c.URL) > longestURL || len(c.Token) > longestSecret || len(c.ID) > longestID || len(c.Tenant) > longestID:
		return wrong("its url, token, id or tenant is too long")
	case unfit(c.Token):
		return wrong("its token has characters in it that no header can hold")
	case unfit(c.ID):
		return wrong("its id has control characters in it")
	case c.Auth == nil:
		return nil
	case len(c.Auth.Scheme) > longestScheme || len(c.Auth.Credentials) > longestSecret:
		return wrong("authentication is too long")
	case c.Auth.Credentials != "" && c.Auth.Scheme == "":
		return wrong("authentication has credentials and no scheme; give one, such as Bearer")
	case unfit(c.Auth.Scheme) || strings.ContainsAny(c.Auth.Scheme, " ,") || unfit(c.Auth.Credentials):
		return wrong("authentication has characters in it that no header can hold")
	}
	return nil
}

// unfit reports whether a header cannot hold the text.
func unfit(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f })
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
	in.push, in.unnamed = &s, req.Config.PushConfig.ID == ""
	return nil
}

// pushAgain sees to it that a message that is sent again has the setting which
// it brings. The caller holds e.admit.
func (e *Engine) pushAgain(ctx context.Context, in *incoming, task *a2a.Task) error {
	if in.push == nil || task.Status.State.Terminal() {
		return nil
	}
	if in.unnamed {
		known, err := e.settings(ctx, task.ID)
		if err != nil {
			return e.pushError(task.ID, "load the push notification settings", err)
		}
		if slices.ContainsFunc(known, func(s push.Setting) bool { return sameReceiver(s, *in.push) }) {
			return nil
		}
	}
	return e.addSetting(ctx, task.ID, *in.push)
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

// pushRow is what the journal keeps of a setting that comes with a message; nil
// stays nil. The caller holds t.mu.
func (t *task) pushRow(s *push.Setting) (*store.Push, error) {
	if s == nil {
		return nil, nil
	}
	if err := t.engine.takesSetting(t, t.pushes, s.Config.ID); err != nil {
		return nil, err
	}
	row, err := s.Encode()
	if err != nil {
		return nil, t.engine.journalError("store the push notification setting", err)
	}
	return &row, nil
}

// adopt takes a setting that is committed, and returns those that were there
// before; nil changes nothing. The caller holds t.mu.
func (t *task) adopt(s *push.Setting) (before []push.Setting) {
	if s == nil {
		return nil
	}
	before = t.pushes
	t.pushes = append(without(before, s.Config.ID), *s)
	return before
}

// withdrawPush takes back the setting that came with a refused message. The
// caller holds e.admit.
func (e *Engine) withdrawPush(ctx context.Context, t *task, r *run) {
	if r.push == nil {
		return
	}
	t.mu.Lock()
	t.pushes = r.pushes
	t.mu.Unlock()
	id := r.push.Config.ID
	err := e.cfg.Journal.DropPush(ctx, string(t.id), id)
	for _, s := range r.pushes {
		if s.Config.ID != id || err != nil {
			continue
		}
		var row store.Push
		if row, err = s.Encode(); err == nil {
			err = e.cfg.Journal.SetPush(ctx, string(t.id), row)
		}
	}
	if err != nil && !errors.Is(err, store.ErrUnknown) { // unknown: the task has gone with the message
		e.log.Error("a push notification setting could not be withdrawn", "task_id", t.id, "err", err)
	}
}
