package preflight

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// mostFile is how many bytes of a file of codex's are looked at.
const mostFile = 1 << 20

// Credentials says where codex could get a credential from. No secret is in it.
type Credentials struct {
	Scripted bool   // the built-in model, which needs none
	Key      string // the variable that holds the key; empty without one
	BaseURL  string // of the endpoint, where it is not codex's own choice
	Home     string // CODEX_HOME, where codex keeps its login
	Login    bool   // codex's login counts, whatever its config.toml says
	Given    bool   // there is a ChatGPT login, or one that is put there at the start
	Shared   bool   // the login may come from the platform, too
	Unread   bool   // CODEX_AUTH_JSON is set, and holds none
}

// Credential checks that there is a credential. Whether the model accepts it
// only a turn can tell.
func Credential(c Credentials) Check {
	return Check{"credential", func(context.Context) Result {
		switch {
		case c.Scripted:
			return ok("none needed: the built-in scripted model answers, not an intelligent one")
		case c.Key != "" && c.BaseURL != "":
			return ok(c.Key + ", for " + c.BaseURL)
		case c.Key != "":
			return ok(c.Key)
		case c.BaseURL != "" && !c.Login:
			return ok("none: OPENAI_BASE_URL is set without OPENAI_API_KEY, so " + c.BaseURL + " is asked without one")
		}
		return c.codexLogin()
	}}
}

const loginFix = "set OPENAI_API_KEY, or log in with codex login, as the user that codex runs as"

// codexLogin looks at codex's own login in the form that 0.169 writes.
func (c Credentials) codexLogin() Result {
	home := c.Home
	if what := ownProvider(home); what != "" && !c.Login {
		return warn("config.toml in "+home+" "+what+": cannot tell whether there is a credential",
			"if turns fail for want of one, "+loginFix)
	}
	path := filepath.Join(home, "auth.json")
	fix := loginFix + " (CODEX_HOME=" + home + "), or mount " + path
	if c.Shared {
		fix = "set OPENAI_API_KEY or CODEX_AUTH_JSON among the workspace's secrets; a message that is sent meanwhile gives a link to log in"
	}
	text, err := regular.Read(path, mostFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.Given:
		return ok("a ChatGPT login in CODEX_AUTH_JSON, which is put to " + path + " at the start")
	case errors.Is(err, fs.ErrNotExist) && c.Unread:
		return fail("CODEX_AUTH_JSON is set and is no login, and there is none at "+path,
			"set it to the whole text of an auth.json of codex's: JSON with tokens, or with OPENAI_API_KEY")
	case errors.Is(err, fs.ErrNotExist):
		return fail("no OPENAI_API_KEY, and no login at "+path, fix)
	case err != nil:
		return fail(err.Error(), "let this user read "+path+", or "+loginFix)
	}
	var auth struct {
		Key    string `json:"OPENAI_API_KEY"`
		Tokens struct {
			Access  string `json:"access_token"`
			Refresh string `json:"refresh_token"`
		} `json:"tokens"`
	}
	if err := json.Unmarshal(text, &auth); err != nil {
		return fail(path+" is not valid JSON", fix) // the error would quote the file
	}
	var kind string
	switch {
	case auth.Tokens.Access != "" || auth.Tokens.Refresh != "":
		kind = "a ChatGPT login"
	case auth.Key != "":
		kind = "an API key"
	default:
		return fail(path+" holds neither a key nor tokens", fix)
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		return warn(kind+" at "+path+", which others on this machine may read", "chmod 600 "+path)
	}
	return ok(kind + " at " + path)
}

var (
	providerLine = regexp.MustCompile(`^model_provider\s*=\s*"([^"]*)"`)
	keyringLine  = regexp.MustCompile(`^cli_auth_credentials_store\s*=\s*"(keyring|auto)"`)
)

// InKeyring reports whether the user's config.toml has codex keep its login in the
// keyring. There it is found by the place of the home.
func InKeyring(home string) bool { return ownProvider(home) == keptInKeyring }

const keptInKeyring = "keeps the login in the keyring"

// ownProvider says what in the user's config.toml puts the credential where we
// cannot see it, or "". It reads top-level lines only, which is where these
// keys stand.
func ownProvider(home string) string {
	text, err := regular.Read(filepath.Join(home, "config.toml"), mostFile)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			return ""
		}
		if m := providerLine.FindStringSubmatch(line); m != nil && m[1] != "openai" {
			return "chooses the provider " + m[1]
		}
		if keyringLine.MatchString(line) {
			return keptInKeyring
		}
	}
	return ""
}
