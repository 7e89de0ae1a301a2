package platform_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// A request is what the platform was sent.
type request struct {
	method, path, body string
	header             http.Header
}

// answers starts a platform that answers with what f says, and returns a client of
// the workspace "w 1", whose token stands in the file.
func answers(t *testing.T, f func(request) (int, string)) (c *platform.Client, file string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		status, text := f(request{r.Method, r.URL.EscapedPath(), string(body), r.Header})
		if status == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(s.Close)
	file = filepath.Join(t.TempDir(), ".auth_token")
	put(t, file, "first-token\n")
	c = platform.New(platform.Config{
		URL: s.URL + "/", Workspace: "w 1", Org: "o", Token: platform.Token{Files: []string{file + ".none", file}, Value: "value-token"},
	})
	t.Cleanup(func() { _ = c.Close() })
	return c, file
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNotify(t *testing.T) {
	var got request
	c, _ := answers(t, func(r request) (int, string) {
		got = r
		return http.StatusOK, `{"status":"sent"}`
	})
	if err := c.Notify(t.Context(), "<done>"); err != nil {
		t.Fatal(err)
	}
	if got.method != "POST" || got.path != "/workspaces/w%201/notify" || got.body != `{"message":"\u003cdone\u003e"}` {
		t.Errorf("the platform got %+v", got)
	}
	for name, want := range map[string]string{
		"Authorization": "Bearer first-token", "X-Workspace-Id": "w 1", "X-Molecule-Org-Id": "o", "Content-Type": "application/json",
	} {
		if have := got.header.Get(name); have != want {
			t.Errorf("%s: %q, want %q", name, have, want)
		}
	}
	if !strings.HasPrefix(got.header.Get("Origin"), "http://127.0.0.1:") || strings.HasSuffix(got.header.Get("Origin"), "/") {
		t.Errorf("Origin: %q", got.header.Get("Origin"))
	}
	err := c.Notify(t.Context(), "a file", platform.Attachment{URI: "workspace:/workspace/a.txt", Name: "a.txt", Size: 3})
	if want := `{"message":"a file","attachments":[{"uri":"workspace:/workspace/a.txt","name":"a.txt","size":3}]}`; err != nil || got.body != want {
		t.Errorf("%v: %s", err, got.body)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		answer string
		want   string
	}{
		"json":     {403, `{"error":"talk_to_user_disabled"}`, `notify the user: the platform answers 403 Forbidden: {"error":"talk_to_user_disabled"}`},
		"html":     {404, "<html>\n\n<body>" + strings.Repeat("x", 1000), "notify the user: the platform answers 404 Not Found: <html> <body>" + strings.Repeat("x", 512-14) + ""},
		"empty":    {502, "", "notify the user: the platform answers 502 Bad Gateway"},
		"redirect": {302, "", "notify the user: the platform answers 302 Found"},
		"binary":   {500, "a\xff\x00b", "notify the user: the platform answers 500 Internal Server Error: a\x00b"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			client, _ := answers(t, func(request) (int, string) {
				asked.Add(1)
				return c.status, c.answer
			})
			err := client.Notify(t.Context(), "secret words")
			if err == nil || platform.StatusOf(err) != c.status || err.Error() != c.want && name != "html" || asked.Load() != 1 {
				t.Errorf("%d requests: %v", asked.Load(), err)
			}
			if name == "html" && (len(err.Error()) > 600 || !strings.HasPrefix(err.Error(), c.want[:60])) {
				t.Errorf("the error has %d bytes: %v", len(err.Error()), err)
			}
		})
	}
}

// TestTokenIsReplaced has the platform give out a new token while it is asked.
func TestTokenIsReplaced(t *testing.T) {
	var used []string
	file := ""
	c, file := answers(t, func(r request) (int, string) {
		token := strings.TrimPrefix(r.header.Get("Authorization"), "Bearer ")
		used = append(used, token)
		if token == "second-token" {
			return http.StatusOK, ""
		}
		if len(used) == 1 {
			return http.StatusUnauthorized, "" // for good: nobody has written a new one
		}
		put(t, file, "second-token")
		return http.StatusUnauthorized, ""
	})
	if err := c.Notify(t.Context(), "one"); platform.StatusOf(err) != http.StatusUnauthorized || len(used) != 1 {
		t.Errorf("with the old token: %v, %v", err, used)
	}
	if err := c.Notify(t.Context(), "two"); err != nil || strings.Join(used, " ") != "first-token first-token second-token" {
		t.Errorf("with a new one: %v, %v", err, used)
	}
	put(t, file, "  \n")
	if _ = c.Notify(t.Context(), "three"); used[len(used)-2] != "value-token" {
		t.Errorf("with an empty file: %v", used)
	}
}

func TestNoToken(t *testing.T) {
	c := platform.New(platform.Config{URL: "http://127.0.0.1:1", Workspace: "w", Token: platform.Token{Files: []string{t.TempDir() + "/none"}}})
	if err := c.Notify(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "MOLECULE_WORKSPACE_TOKEN") {
		t.Errorf("without a token: %v", err)
	}
	c = platform.New(platform.Config{URL: "http://127.0.0.1:1", Workspace: "w", Token: platform.Token{Files: []string{t.TempDir()}}})
	if err := c.Notify(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "read the workspace's token") {
		t.Errorf("with a folder for a token: %v", err)
	}
}

func TestNobodyThere(t *testing.T) {
	t.Parallel()
	c := platform.New(platform.Config{URL: "http://127.0.0.1:1", Workspace: "w", Token: platform.Token{Value: "planted-secret"}})
	err := c.Notify(t.Context(), "x")
	if err == nil || platform.StatusOf(err) != 0 || strings.Contains(err.Error(), "planted-secret") {
		t.Errorf("nobody listens: %v", err)
	}
}
