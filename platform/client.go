package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config describes a client. URL and Workspace must be set.
type Config struct {
	URL       string // of the platform
	Workspace string // our id
	Org       string // "" on a platform that serves one organisation only
	Token     Token
	HTTP      *http.Client // nil means one of its own, with a limit of 30 s a request
}

// A Client speaks for one workspace. Its methods may be called concurrently.
type Client struct {
	cfg  Config
	http *http.Client
}

// New returns a client. It connects to nothing.
func New(cfg Config) *Client {
	cfg.URL = strings.TrimRight(cfg.URL, "/")
	c := &Client{cfg: cfg, http: cfg.HTTP}
	if c.http == nil {
		c.http = &http.Client{Timeout: requestTimeout, CheckRedirect: noRedirects}
	}
	return c
}

// Close lets go of idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

const (
	requestTimeout = 30 * time.Second
	mostAnswer     = 8 << 20 // bytes of an answer that are read
	mostHead       = 512     // bytes of an answer that an error holds
)

// noRedirects keeps the token with the host that it is for.
func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// An Error is a refusal by the platform.
type Error struct {
	Op     string // what was asked for
	Status int    // of HTTP
	Head   string // the beginning of the answer
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s: the platform answers %d %s", e.Op, e.Status, http.StatusText(e.Status))
	if e.Head != "" {
		text += ": " + e.Head
	}
	return text
}

// Permanent reports whether the same request will be refused again.
func (e *Error) Permanent() bool {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return false
	}
	return e.Status < 500
}

// StatusOf returns the status of HTTP that the platform has refused with, or 0.
func StatusOf(err error) int {
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused.Status
	}
	return 0
}

// own is a path below our own workspace.
func (c *Client) own(path string) string {
	return "/workspaces/" + url.PathEscape(c.cfg.Workspace) + path
}

// call sends body as JSON, unless it is nil, and decodes the answer into out, unless
// that is nil.
func (c *Client) call(ctx context.Context, op, method, path string, body, out any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	}
	token, err := c.cfg.Token.read()
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	err = c.once(ctx, op, method, path, token, text, out)
	if StatusOf(err) != http.StatusUnauthorized {
		return err
	}
	newer, readErr := c.cfg.Token.read()
	if readErr != nil || newer == token {
		return err
	}
	return c.once(ctx, op, method, path, newer, text, out)
}

func (c *Client) once(ctx context.Context, op, method, path, token string, body []byte, out any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.cfg.URL+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("X-Workspace-ID", c.cfg.Workspace)
	// Both are asked for by platforms of many organisations, and harmless elsewhere.
	req.Header.Set("Origin", c.cfg.URL)
	if c.cfg.Org != "" {
		req.Header.Set("X-Molecule-Org-Id", c.cfg.Org)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	switch {
	case res.StatusCode < 200 || res.StatusCode > 299:
		return &Error{Op: op, Status: res.StatusCode, Head: headOf(answer)}
	case err != nil:
		return fmt.Errorf("%s: read the answer: %w", op, err)
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s: the platform's answer is not understood: %w (%s)", op, err, headOf(answer))
	}
	return nil
}

// headOf is the beginning of an answer, on one line.
func headOf(answer []byte) string {
	if len(answer) > mostHead {
		answer = answer[:mostHead]
	}
	return strings.ToValidUTF8(strings.Join(strings.Fields(string(answer)), " "), "")
}
