package login

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex/child"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// Codex reads auth.json as it starts, then a login that appears where none was, and after a 401 a newer
// one of the account that it has, and no other change (seen on 0.169.0). It writes it each time that
// it renews a login, which is the same account's. Limits are of an account.

// Watch is for [executor.Credential]: the credential is another one where codex was started anew to take
// it, or has said that its account is.
func (c *Credential) Watch() (exchanged func() bool) {
	met, _ := c.cfg.Child.Health()
	changes := c.account.changed()
	return func() bool {
		before := changes
		changes = c.account.changed()
		return c.exchanged(&met) || changes != before
	}
}

// exchanged reports whether codex was started anew since it was met, and meets the new one. Where the
// file is of another account by now codex is started anew, as soon as no turn is begun.
func (c *Credential) exchanged(met **child.Child) bool {
	on, _ := c.cfg.Child.Health()
	if on == nil {
		return false
	}
	if c.hasAnothers(on) && on.Pass() {
		c.cfg.RestartWhenIdle("credential changed")
	}
	was := *met
	*met = on
	return was != nil && was != on
}

// hasAnothers reports whether codex's file is of another account than what codex has read. A file
// that is being written, or was taken away, is of none.
func (c *Credential) hasAnothers(on *child.Child) bool {
	file := c.whose(on.Info().CodexHome)
	return !on.Adopt(file) && file != "" && file != on.Whose()
}

// hasNewer reports whether codex's file has another login than codex has, be it of the same account.
func (c *Credential) hasNewer(on *child.Child) bool {
	ctx, cancel := context.WithTimeout(c.root, accountAsk)
	defer cancel()
	token, err := on.AuthToken(ctx)
	if err != nil {
		c.log.Warn("codex does not say which login it has, and may go on with one that was replaced", "err", err)
		return false
	}
	file, _ := c.credential(on.Info().CodexHome)["tokens"].(map[string]any)
	kept, _ := file["access_token"].(string)
	return kept != "" && token != "" && kept != token // without, its provider has it use none
}

// loginEnded notes that codex was given a login, which it has written down.
func (c *Credential) loginEnded(params json.RawMessage) {
	var login appserver.LoginNote
	if json.Unmarshal(params, &login) != nil || !login.Success {
		return
	}
	if on, _ := c.cfg.Child.Health(); on != nil {
		on.Given(c.whose(on.Info().CodexHome))
	}
}

// homeIn is the CODEX_HOME of a codex with an environment.
func homeIn(env []string) string {
	values := map[string]string{}
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		values[name] = value
	}
	return cmp.Or(values["CODEX_HOME"], filepath.Join(values["HOME"], ".codex"))
}

// mostCredential is more than codex's file has.
const mostCredential = 1 << 20

// credential is what codex's file has; nil if it cannot be read.
func (c *Credential) credential(home string) (auth map[string]any) {
	text, err := asuser.Value(c.cfg.User, func() ([]byte, error) {
		return regular.Read(filepath.Join(home, "auth.json"), mostCredential)
	})
	if err != nil || json.Unmarshal(text, &auth) != nil {
		return nil
	}
	return auth
}

// whose tells the credential in codex's file from that of another account, by a digest; it is empty
// if there is none. What codex changes as it renews a login does not count.
func (c *Credential) whose(home string) string {
	auth := c.credential(home)
	if tokens, ok := auth["tokens"].(map[string]any); ok {
		id, _ := tokens["id_token"].(string)
		auth["tokens"] = []any{tokens["account_id"], personOf(id)}
	}
	delete(auth, "last_refresh")
	delete(auth, "auth_mode")
	maps.DeleteFunc(auth, func(_ string, value any) bool { return value == nil })
	if len(auth) == 0 {
		return ""
	}
	text, _ := json.Marshal(auth) // it was JSON
	sum := sha256.Sum256(text)
	return string(sum[:])
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
		_ = json.Unmarshal(text, &claims) // a token that cannot be read has no claims
	}
	return claims.Sub + " " + claims.Auth.User
}

// At is the credential that is there for a codex with an environment, as [child.Child.Given] takes it.
func (c *Credential) At(env []string) string { return c.whose(homeIn(env)) }

// Key notes which environment variable the next codex has the model's key from.
func (c *Credential) Key(variable string) { c.keyName.Store(&variable) }

// keyVariable names the variable that the model's key comes from.
func (c *Credential) keyVariable() string {
	if name := c.keyName.Load(); name != nil {
		return *name
	}
	return c.cfg.KeyVariable
}

// Proven is for the first turn that has ended on a child: a credential that appeared where none was has been
// of use to it.
func (c *Credential) Proven(on *child.Child) { on.Adopt(c.whose(on.Info().CodexHome)) }
