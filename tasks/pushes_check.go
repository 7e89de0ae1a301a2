package tasks

import (
	"context"
	"slices"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/tasks/push"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/refusal"
)

// Bounds of what a setting can hold.
const (
	longestURL    = 4 << 10
	longestSecret = 8 << 10
	longestScheme = 64
	longestPushID = 128 // all that waits has them in memory
)

// checkSetting says what is wrong with a setting. It quotes nothing of it.
func checkSetting(c *a2a.PushConfig) error {
	wrong := func(what string) error {
		return refusal.New(a2a.ErrInvalidParams, "the push notification setting is wrong: %s", what)
	}
	switch {
	case c.URL == "":
		return wrong("its url is missing")
	case len(c.URL) > longestURL || len(c.Token) > longestSecret || len(c.ID) > longestPushID || len(c.Tenant) > longestID:
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
	in.push, in.unnamed = s, req.Config.PushConfig.ID == ""
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
