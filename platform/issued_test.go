package platform_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// unusable are texts that no header carries as a token.
func unusable() map[string]string {
	return map[string]string{
		"line": "planted-\r\nX-Evil: 1", "blank": "planted token of it", "NUL": "planted-token-of\x00", "tab": "planted\ttoken-of-it", "DEL": "planted-token-of\x7f",
		"short": "planted-of-15-b", "letter": "plänted-token-of", "line of its own": "planted\u2028token", "long": "planted" + strings.Repeat("x", 4<<10),
	}
}

// TestTokenThatNoHeaderCarries does not take the place of one that works, in a file or in
// memory, and neither does such a secret; the error does not quote it.
func TestTokenThatNoHeaderCarries(t *testing.T) {
	for name, bad := range unusable() {
		s := newSite(t, fakeplatform.AUG)
		s.register(t)
		token, secret := content(t, filepath.Join(s.dir, platform.TokenFile)), content(t, filepath.Join(s.dir, platform.InboundSecretFile))
		for field, call := range map[string]func() error{
			"auth_token": func() error {
				_, err := s.Register(t.Context(), platform.Registration{URL: "http://localhost:9", Card: card()})
				return err
			},
			"platform_inbound_secret": func() error { return s.Heartbeat(t.Context(), platform.Beat{}) },
		} {
			text, _ := json.Marshal(map[string]string{field: bad})
			undo := s.p.Behave("/registry/*", fakeplatform.Refuse(http.StatusOK, string(text)))
			err := call()
			undo()
			if _, ok := errors.AsType[*platform.KeepError](err); !ok || strings.Contains(err.Error(), "planted") || strings.Contains(err.Error(), "Evil") {
				t.Errorf("%s for %s: %v", name, field, err)
			}
			if now := content(t, filepath.Join(s.dir, platform.TokenFile)); now != token {
				t.Errorf("%s for %s: the token is now %q", name, field, now)
			}
			if now := content(t, filepath.Join(s.dir, platform.InboundSecretFile)); now != secret {
				t.Errorf("%s for %s: the secret is now %q", name, field, now)
			}
		}
		if _, err := s.Peers(t.Context()); err != nil {
			t.Errorf("behind %s: %v", name, err)
		}
		for _, r := range s.p.Requests() {
			if r.Status == http.StatusUnauthorized {
				t.Errorf("%s was sent", name)
			}
		}
	}
}

// TestGoodSecretBesideABadToken is kept, and a token beside a bad secret.
func TestGoodSecretBesideABadToken(t *testing.T) {
	s := newSite(t, fakeplatform.AUG)
	s.p.Behave("*/state", fakeplatform.Refuse(http.StatusOK, `{"status":"online"}`)) // every token is good
	for _, answer := range []string{`{"auth_token":"a b","platform_inbound_secret":" the-secret-of-16\n"}`, `{"auth_token":" the.token-_~+/==\n","platform_inbound_secret":"\r"}`, `{"auth_token":"","platform_inbound_secret":"c d"}`} {
		undo := s.p.Behave("/registry/*", fakeplatform.Refuse(http.StatusOK, answer))
		_, _ = s.Register(t.Context(), platform.Registration{URL: "http://localhost:9", Card: card()})
		undo()
	}
	if got := content(t, filepath.Join(s.dir, platform.TokenFile)) + content(t, filepath.Join(s.dir, platform.InboundSecretFile)); got != "the.token-_~+/==\nthe-secret-of-16\n" {
		t.Errorf("kept are %q", got)
	}
}

// A oneAnswer is a platform that gives one answer to everything.
type oneAnswer struct {
	status int
	kind   string
	body   string
}

func (a oneAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return &http.Response{
		StatusCode: a.status, ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {a.kind}, "Retry-After": {"0"}},
		Body: io.NopCloser(strings.NewReader(a.body)), ContentLength: -1, Request: r,
	}, nil
}

// FuzzAnswers gives any answer to everything that a workspace asks of its platform.
// Nothing panics, an error is short and has no token in it, and what is kept is what a
// header carries.
func FuzzAnswers(f *testing.F) {
	for _, body := range []string{
		`{"auth_token":"t","platform_inbound_secret":"s","delivery_mode":"poll"}`, `{"auth_token":"t\r\nX: y"}`, `{"auth_token":5}`, `[]`, `null`, `"x"`, "",
		`{"id":"w","status":"removed"}`, `{"deleted":true,"error":"gone"}`, `[{"id":"a","seq":"12","created_at":"2026-01-01T00:00:00Z","attachments":[{"uri":4}]}]`,
		`{"result":{"parts":[{"kind":"text","text":"x"}]}}`, `{"memories":[{"id":1}]}`, `<html>`, `{"error":"first-token","hint":["first-token"],"retry_after":1e300}`,
		`[{"tier":1e99}]`, `{"files":[{"path":"../x","content":"y"}]}`, `{"a":{"b":[[[[[[[[]]]]]]]]}}`, `{"seq":99999999999999999999}`,
		`[{"tier":` + strings.Repeat("9", 8<<10) + `}]`, `{"agents":` + strings.Repeat("9", 8<<10) + `}`,
	} {
		for _, status := range []int{200, 401, 404, 410, 429} {
			f.Add(status, "application/json", body)
			f.Add(status, strings.Repeat("text/", 2<<10), body)
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, status int, kind, body string) {
		if status < 200 || status > 499 { // what is above is only sent again
			status = 200 + (status%300+300)%300
		}
		file := filepath.Join(dir, platform.TokenFile)
		if err := os.WriteFile(file, []byte("first-token"), 0o600); err != nil {
			t.Fatal(err)
		}
		c := platform.New(platform.Config{
			URL: "http://platform.example", Workspace: "w", Dir: dir, Token: platform.Token{Files: []string{file}},
			HTTP: &http.Client{Transport: oneAnswer{status, kind, body}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		})
		defer c.Close()
		calls := everything(c, t)
		for _, name := range slices.Sorted(maps.Keys(calls)) {
			err := calls[name]()
			if err != nil && (len(err.Error()) > 4<<10 || strings.Contains(err.Error(), "first-token") && !strings.Contains(name+body+kind, "first-token")) {
				t.Fatalf("%s: an error of %d bytes: %.5000s", name, len(err.Error()), err)
			}
		}
		for _, name := range []string{platform.TokenFile, platform.InboundSecretFile} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			for _, b := range strings.TrimSuffix(string(text), "\n") {
				if b <= ' ' || b > '~' || len(text) > 5<<10 {
					t.Fatalf("%s holds %q", name, text)
				}
			}
		}
	})
}

// everything is what a workspace asks.
func everything(c *platform.Client, t *testing.T) map[string]func() error {
	ctx := platform.Once(t.Context())
	return map[string]func() error{
		"register": func() error {
			_, err := c.Register(ctx, platform.Registration{URL: "http://localhost:9", Card: card()})
			return err
		},
		"heartbeat": func() error { return c.Heartbeat(ctx, platform.Beat{}) },
		"state":     func() error { _, err := c.State(ctx); return err },
		"polls":     func() error { _, err := c.Polls(ctx); return err },
		"peers":     func() error { _, err := c.Peers(ctx); return err },
		"discover":  func() error { _, err := c.Discover(ctx, "p"); return err },
		"rows": func() error {
			rows, err := c.ActivityRows(ctx, platform.RowQuery{After: "a", Since: 1e9})
			for _, row := range rows {
				_, _, _, _ = row.Happened("w"), row.FromPeer(), row.Answer(), row.Reply()
			}
			return err
		},
		"acknowledged": func() error { _, err := c.Acknowledged(ctx); return err },
		"send":         func() error { _, err := c.Send(ctx, "p", platform.Message{ID: "m", Text: "hi"}); return err },
		"delegate":     func() error { _, err := c.Delegate(ctx, platform.Task{Target: "p", Text: "x"}); return err },
		"delegations":  func() error { _, err := c.Delegations(ctx); return err },
		"memory":       func() error { _, _, err := c.RecallMemory(ctx, platform.Recall{Query: "q"}); return err },
		"workspace":    func() error { _, err := c.Workspace(ctx); return err },
		"secrets":      func() error { _, err := c.Secrets(ctx); return err },
		"instructions": func() error { _, err := c.Instructions(ctx); return err },
		"shared":       func() error { _, err := c.SharedContext(ctx, "p"); return err },
		"broadcast":    func() error { _, err := c.Broadcast(ctx, "x"); return err },
		"ask":          func() error { _, err := c.CreateRequest(ctx, platform.Ask{}); return err },
		"upload": func() error {
			_, err := c.PendingUpload(ctx, "f", io.Discard, 1<<20)
			return err
		},
		"notify": func() error { return c.Notify(ctx, "x") },
	}
}
