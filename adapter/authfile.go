package adapter

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/whole"
)

// A Login is a text that codex keeps in its auth.json, looked at from outside.
type Login struct {
	ChatGPT   bool      // it has tokens of ChatGPT
	Key       bool      // it has an API key
	Account   string    // whose it is; empty if it does not say
	Refreshed time.Time // when its tokens were last renewed; zero if it does not say
	secrets   []string
}

// Secrets are the parts of the login that are to be kept from others. What no key or token
// looks like is left out: the file can be written by commands in some setups, which could
// otherwise have any words masked, or so many that looking for them takes long.
func (l Login) Secrets() (likely []string) {
	for _, secret := range l.secrets {
		if secret = strings.TrimSpace(secret); secret != "" && !unlikely(secret) {
			likely = append(likely, secret)
		}
	}
	return likely
}

// mostToken is more than any token has.
const mostToken = 64 << 10

func unlikely(secret string) bool {
	return len(secret) > mostToken || strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' })
}

// newerThan reports whether the login is the same account's as other, renewed later.
func (l Login) newerThan(other Login) bool {
	return l.ChatGPT && l.Account != "" && l.Account == other.Account && l.Refreshed.After(other.Refreshed)
}

// ErrNoLogin says that a text is no login. It does not hold the text.
var ErrNoLogin = errors.New("it is no JSON with a key or tokens")

// LookAtLogin tells what a login is.
func LookAtLogin(text []byte) (Login, error) {
	var auth struct {
		Key    string `json:"OPENAI_API_KEY"`
		Tokens struct {
			Access  string `json:"access_token"`
			Refresh string `json:"refresh_token"`
			ID      string `json:"id_token"`
			Account string `json:"account_id"`
		} `json:"tokens"`
		LastRefresh string `json:"last_refresh"`
	}
	if json.Unmarshal(text, &auth) != nil { // the error would quote the text
		return Login{}, ErrNoLogin
	}
	l := Login{
		ChatGPT: auth.Tokens.Access != "" || auth.Tokens.Refresh != "", Key: auth.Key != "", Account: auth.Tokens.Account,
		secrets: []string{auth.Key, auth.Tokens.Access, auth.Tokens.Refresh, auth.Tokens.ID},
	}
	if !l.ChatGPT && !l.Key {
		return Login{}, ErrNoLogin
	}
	l.Refreshed, _ = time.Parse(time.RFC3339, auth.LastRefresh) // zero if it cannot be read
	return l, nil
}

func authFile(home string) string { return filepath.Join(home, "auth.json") }

// ReadLogin looks at the login in a codex home. It is read each time: codex, too,
// writes it. A home without one has an error of [fs.ErrNotExist].
func ReadLogin(home string) (Login, []byte, error) {
	text, err := regular.Read(authFile(home), mostConfig)
	if err != nil {
		return Login{}, nil, err
	}
	l, err := LookAtLogin(text)
	return l, text, err
}

// WriteLogin makes text the login of a codex home, whole or not at all, and reports
// whether it is another one than before.
func WriteLogin(home string, text []byte) (changed bool, err error) {
	path := authFile(home)
	if old, err := regular.Read(path, mostConfig); err == nil && string(old) == string(text) {
		return false, privately(path)
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return false, fmt.Errorf("write codex's login: %w", err)
	}
	if err := whole.Write(path, text, 0o600); err != nil {
		return false, fmt.Errorf("write codex's login: %w", err)
	}
	return true, nil
}

// privately takes the file from everybody else on the machine.
func privately(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return os.Chmod(path, 0o600)
}
