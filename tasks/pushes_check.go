package tasks

import (
	"cmp"
	"context"
	"strings"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/google/uuid"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/brief"
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

// readSetting checks a setting that a caller has sent, and gives it an id if it
// has none.
func (e *Engine) readSetting(ctx context.Context, c *a2a.PushConfig) (*setting, error) {
	switch {
	case e.cfg.Push == nil:
		return nil, noPush()
	case c == nil:
		return nil, refusal.New(a2a.ErrInvalidParams, "the push notification setting is missing")
	}
	if err := checkSetting(c); err != nil {
		return nil, err
	}
	if err := e.cfg.Push.Check(c.URL); err != nil {
		return nil, refusal.New(a2a.ErrInvalidParams, "the url for push notifications is refused: %s", brief.Clip(err.Error(), 512))
	}
	kept := *c
	kept.TaskID = ""
	kept.ID = cmp.Or(c.ID, uuid.NewString())
	s := push.Setting{Version: version(ctx), Config: kept}
	row, err := s.Encode()
	if err != nil {
		return nil, e.journalError("store the push notification setting", err)
	}
	return &setting{Setting: s, row: row}, nil
}
