package platform

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/regular"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/whole"
)

// The files of the workspace's configuration that hold what the platform gives out.
const (
	TokenFile         = ".auth_token" //nolint:gosec // the name of a file
	InboundSecretFile = ".platform_inbound_secret"
)

// kept is what the platform has given out.
type kept struct {
	mu     sync.Mutex             // one writer at a time
	issued atomic.Pointer[string] // a token that stands in no file
	secret atomic.Pointer[string] // the inbound one, as last seen
}

// refused drops the token if it is the one that stands in no file.
func (k *kept) refused(token string) {
	if issued := k.issued.Load(); issued != nil && *issued == token {
		k.issued.CompareAndSwap(issued, nil)
	}
}

// secrets are what must not be seen of an answer that echoes what it was sent.
func (c *Client) secrets(used string) []string {
	out := []string{used, c.cfg.Token.Value}
	if secret := c.kept.secret.Load(); secret != nil {
		out = append(out, *secret)
	}
	return out
}

// keep writes down what an answer brought: a token that is usable, and a secret. A token
// is given out once only, so it is used from memory while it cannot be written, and
// written with the next answer.
func (c *Client) keep(token, secret string) error {
	secret, unusable := usable("an inbound secret", secret)
	c.cfg.Seen(token, secret)
	c.kept.mu.Lock()
	defer c.kept.mu.Unlock()
	if token != "" {
		c.kept.issued.Store(&token)
	}
	if secret != "" {
		c.kept.secret.Store(&secret)
	}
	if c.cfg.Dir == "" {
		return unusable
	}
	errs := []error{unusable}
	if issued := c.kept.issued.Load(); issued != nil {
		if err := c.keepFile(filepath.Join(c.cfg.Dir, TokenFile), *issued); err != nil {
			errs = append(errs, fmt.Errorf("keep the workspace's token: %w", err))
		} else {
			c.kept.issued.Store(nil)
		}
	}
	if err := c.keepFile(filepath.Join(c.cfg.Dir, InboundSecretFile), secret); err != nil {
		errs = append(errs, fmt.Errorf("keep the platform's inbound secret: %w", err))
	}
	return errors.Join(errs...)
}

// keepFile replaces the file by one that holds the secret, unless it does already or
// there is none. Whoever reads meanwhile reads the old one or the new one, whole.
func (c *Client) keepFile(name, secret string) error {
	if secret == "" {
		return nil
	}
	old, err := regular.Read(name, mostToken)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, regular.ErrHeld) {
		return err
	}
	if err == nil && bytes.Equal(bytes.TrimSpace(old), []byte(secret)) {
		return nil
	}
	text := []byte(secret + "\n")
	if err := whole.Write(name, text, 0o600); err != nil {
		return err
	}
	c.cfg.Files.Wrote(name, text)
	return nil
}
