package executor

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// A credential is what codex asks the model with, as far as can be seen: limits are of an account.
type credential struct {
	on    *child
	whose string // says the file that codex reads as it starts; empty if it says nothing
}

func (e *Executor) credential() (now credential) {
	if now.on, _ = e.child.health(); now.on != nil {
		now.whose = e.whose(now.on.Info().CodexHome)
	}
	return now
}

// changes reports whether a limit that was met with a credential may be none any more: that was
// exchanged, or codex has said that its account is another one.
func (e *Executor) changes(met *credential) bool {
	updated, login := e.account.news()
	return e.exchanged(met) || updated || login != nil && login.Success
}

// exchanged reports whether codex was started anew since a credential was met. Where its file has
// become somebody else's codex is started anew, as soon as no turn is begun: it takes that only then.
// Codex itself writes the file each time it renews a login, which is the same account's.
func (e *Executor) exchanged(met *credential) bool {
	now := e.credential()
	if now.on == nil {
		return false
	}
	was := *met
	if now.whose == "" { // it is being written, or was taken away
		now.whose = was.whose
	}
	*met = now
	if was.on == now.on && was.whose != now.whose {
		e.RestartWhenIdle("credential changed")
		return false
	}
	return was.on != nil && was.on != now.on
}

// mostCredential is more than codex's file has.
const mostCredential = 1 << 20

// whose says which account codex's file of credentials is of, without the secrets in it.
func (e *Executor) whose(home string) string {
	text, err := asuser.Value(e.cfg.Child.User, func() ([]byte, error) {
		return regular.Read(filepath.Join(home, "auth.json"), mostCredential)
	})
	var auth struct {
		Key    string `json:"OPENAI_API_KEY"`
		Tokens struct {
			Account string `json:"account_id"`
			ID      string `json:"id_token"`
		} `json:"tokens"`
	}
	if err != nil || json.Unmarshal(text, &auth) != nil || auth.Key+auth.Tokens.Account+auth.Tokens.ID == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(auth.Key))
	return string(sum[:]) + auth.Tokens.Account + " " + personOf(auth.Tokens.ID)
}

// personOf says whom a token of ChatGPT is about: an account can have several, each with limits.
func personOf(token string) string {
	_, rest, _ := strings.Cut(token, ".")
	part, _, _ := strings.Cut(rest, ".")
	var claims struct {
		Sub  string `json:"sub"`
		Auth struct {
			User string `json:"chatgpt_user_id"`
		} `json:"https://api.openai.com/auth"`
	}
	if text, err := base64.RawURLEncoding.DecodeString(part); err == nil {
		_ = json.Unmarshal(text, &claims) // what cannot be read names nobody
	}
	return claims.Sub + " " + claims.Auth.User
}
