package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
)

// A Token is what runtimes have to show. One that stands in a file is read with each request, so that the operator
// may change it.
type Token struct {
	file   string
	value  string // where there is no file
	keeper regular.Keeper
}

func openToken(cfg Config) (*Token, string, error) {
	t := &Token{file: cfg.TokenFile, value: cfg.Token}
	if t.value == "" && t.file == "" {
		t.file = filepath.Join(cfg.Dir, tokenFile)
		if _, err := text(t.file, rand.Text); err != nil {
			return nil, "", fmt.Errorf("the machine's token: %w", err)
		}
	}
	if t.value != "" {
		t.file = ""
	}
	value, err := t.Value()
	if err != nil {
		return nil, "", fmt.Errorf("the machine's token: %w", err)
	}
	if utf8.RuneCountInString(value) < leastToken {
		return nil, "", fmt.Errorf("the machine's token has fewer than %d characters and could be found by trying: openssl rand -hex 32 makes one", leastToken)
	}
	return t, t.file, nil
}

// Value returns the token.
func (t *Token) Value() (string, error) {
	if t.file == "" {
		return t.value, nil
	}
	held, err := t.keeper.Read(t.file, mostText)
	return strings.TrimSpace(string(held)), err
}

// Is reports whether a token that is shown is the right one, in a time that tells nothing of it. One that is
// short enough to be found by trying never is.
func (t *Token) Is(shown string) bool {
	value, err := t.Value()
	want, got := sha256.Sum256([]byte(value)), sha256.Sum256([]byte(shown))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1 && err == nil && len(value) >= leastToken
}
