package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// deepCase is a runtime whose temp directory, home and working directory are looked into afterwards. What its
// codex is configured to start leaves a file in touched, and its proxies take nothing.
func deepCase(t *testing.T, environ ...string) (c Case, touched string) {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("%s %s was asked for beyond this machine", r.Method, r.URL)
		w.WriteHeader(http.StatusForbidden)
	}))
	t.Cleanup(proxy.Close)
	temp, home := codextest.Dir(t, "temp"), codextest.Home(t)
	t.Setenv("TMPDIR", temp)
	touched = filepath.Join(codextest.Dir(t, "touched"), "file")
	config := fmt.Sprintf("notify = [\"touch\", %[1]q]\n[mcp_servers.touch]\ncommand = \"touch\"\nargs = [%[1]q]\n", touched)
	for name, text := range map[string]string{"config.toml": config, "auth.json": `{"OPENAI_API_KEY":"planted"}`} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	environ = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + codextest.Dir(t, "user"), "CODEX_BIN=" + codextest.Bin(t), "CODEX_HOME=" + home,
		"RUNTIME_WORKDIR=" + codextest.Dir(t, "work"), "RUNTIME_STATE_DIR=" + codextest.Dir(t, "state"),
		"HTTPS_PROXY=" + proxy.URL, "HTTP_PROXY=" + proxy.URL, "http_proxy=" + proxy.URL, "RUNTIME_CODEX_FEATURES=codex",
	}, environ...)
	s, _, err := settings.Load(environ)
	if err != nil {
		t.Fatal(err)
	}
	return Case{Settings: s, Environ: environ, Deep: true}, touched
}

// wantNothingLeft of a codex that has run.
func wantNothingLeft(t *testing.T, c Case) {
	t.Helper()
	for dir, want := range map[string]int{os.TempDir(): 0, c.Settings.WorkDir: 0, c.Settings.CodexHome: 2} {
		if left, err := os.ReadDir(dir); err != nil || len(left) != want {
			t.Errorf("in %s are %v, %v", dir, left, err)
		}
	}
}

// TestTurnCheck has the real codex run its turns, without the configuration and the login of its home.
func TestTurnCheck(t *testing.T) {
	for sandbox, with := range map[string]string{
		"workspace-write":    "a tool, a command in the sandbox, a steer",
		"read-only":          "a tool, a command in the sandbox, a steer",
		"danger-full-access": "a tool, a steer",
	} {
		t.Run(sandbox, func(t *testing.T) {
			c, touched := deepCase(t, "CODEX_SANDBOX="+sandbox)
			if runs := trial(c, adapter.Launch{}).Printed != ""; runs == (sandbox == "danger-full-access") {
				t.Errorf("a command is run: %t", runs)
			}
			r := turnCheck(c).Do(t.Context())
			if r.Status != preflight.OK || !strings.Contains(r.Detail, "codex "+codex.Pinned()) || !strings.Contains(r.Detail, with) {
				t.Errorf("%+v", r)
			}
			if _, err := os.Stat(touched); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("what its home has codex start was started: %v", err)
			}
			wantNothingLeft(t, c)
		})
	}
}

// TestTurnCheckIsAskedFor: no check runs a turn by itself.
func TestTurnCheckIsAskedFor(t *testing.T) {
	for _, way := range []Way{Serve(), Channel(), MCP()} {
		for _, deep := range []bool{false, true} {
			c := Case{Settings: settings.Settings{Tools: settings.ToolsOff}, Deep: deep}
			has := false
			for _, check := range way.checks(t.Context(), c, scratch{}) {
				has = has || check.Name == "turn"
			}
			if want := deep && way.Subject == ""; has != want {
				t.Errorf("%q, deep %t: the check is there: %t", way.Subject, deep, has)
			}
		}
	}
}

// TestTurnCheckIsCanceled ends a codex that says nothing, and leaves nothing of it.
func TestTurnCheckIsCanceled(t *testing.T) {
	c, _ := deepCase(t)
	dir := codextest.Dir(t, "bin")
	fifo := filepath.Join(dir, "pid")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	c.Settings.CodexBin = filepath.Join(dir, "codex")
	if err := os.WriteFile(c.Settings.CodexBin, []byte("#!/bin/sh\necho $$ >"+fifo+"\nexec sleep 1000\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := make(chan preflight.Result, 1)
	go func() { result <- turnCheck(c).Do(ctx) }()
	said, err := os.ReadFile(fifo)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(said)))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if r := <-result; r.Status != preflight.Fail || !strings.Contains(r.Detail, "the start of codex did not come") {
		t.Errorf("%+v", r)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("codex, process %d, is there: %v", pid, err)
	}
	wantNothingLeft(t, c)
}

// TestTurnResult says what to do about a codex that was not tried, and one that was.
func TestTurnResult(t *testing.T) {
	missed := &codex.StepError{Step: "the end", Err: errors.New("it\nis gone"), Said: []string{"bye"}}
	for name, c := range map[string]struct {
		version     string
		err         error
		detail, fix string
	}{
		"tried":     {codex.Pinned(), missed, "codex " + codex.Pinned() + " was tried with one on the scripted model: the end did not come: it is gone; said meanwhile, the last first: bye", "see the checks"},
		"not tried": {"0.999.0", missed, "codex 0.999.0 was tried", "npm install"},
		"no start":  {"", missed, "codex was tried", "see the checks codex"},
		"not begun": {"", errors.New("no room"), "none was tried: no room", "temp directory"},
	} {
		if r := turnResult(c.version, "read-only", time.Second, c.err); r.Status != preflight.Fail || !strings.Contains(r.Detail, c.detail) || !strings.Contains(r.Fix, c.fix) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
