package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/within"
)

// fakeHost is a machine with a current directory and a set of paths that are
// directories, writable and executable all at once.
type fakeHost struct {
	dir   string
	there []string
}

func (h fakeHost) cwd() (string, error) {
	if h.dir == "" {
		return "", errors.New("gone")
	}
	return h.dir, nil
}

func (h fakeHost) home() string { return "/home/account" }

func (h fakeHost) has(p string) bool {
	return slices.Contains(h.there, p)
}
func (h fakeHost) isDir(p string) bool { return h.has(p) }
func (h fakeHost) program() string     { return "/opt/runtime" }
func (h fakeHost) within(dir, path string) bool {
	return within.Dir(strings.Replace(dir, "/link", "/home/u", 1), path)
}
func (h fakeHost) canWrite(p string) bool { return h.has(p) }
func (h fakeHost) canRun(p string) bool   { return h.has(p) }
func (h fakeHost) user(name string) (*asuser.User, error) {
	switch name {
	case "u": // who we are
		return nil, nil
	case "agent":
		return &asuser.User{Name: name, UID: 1000, GID: 1000, Home: "/home/agent"}, nil
	case "homeless":
		return &asuser.User{Name: name, UID: 1001, GID: 1001}, nil
	}
	return nil, errors.New("there is no such user")
}

// at loads the settings on a machine whose user is /home/u in /src.
func at(t *testing.T, there []string, environ ...string) (Settings, []Warning, error) {
	t.Helper()
	return load(append([]string{"HOME=/home/u"}, environ...), fakeHost{"/src", there})
}

func mustLoad(t *testing.T, there []string, environ ...string) Settings {
	t.Helper()
	s, _, err := at(t, there, environ...)
	if err != nil {
		t.Fatalf("load(%q): %v", environ, err)
	}
	return s
}

func TestDefaultsStandingAlone(t *testing.T) {
	s := mustLoad(t, nil)
	got := fmt.Sprint(s.Addr, s.Card, s.Reply, s.WorkDir, s.StateDir, s.MaxTurns, s.MaxQuestions, s.MaxQueue, s.MaxThreads,
		s.CodexBin, s.CodexHome, s.Sandbox, s.ApprovalPolicy, s.TurnTimeout, s.IdleTimeout, s.ItemTimeout, s.CodexFeatures, s.Log)
	want := fmt.Sprint("127.0.0.1:8000", "union", "task", "/src", "/home/u/.local/state/molecule-codex-runtime", 4, 64, 32, 16,
		"codex", "/home/u/.codex", "workspace-write", "on-request", time.Hour, 10*time.Minute, 30*time.Minute, "lean", "info")
	if got != want {
		t.Errorf("defaults:\n got %s\nwant %s", got, want)
	}
	if s.InWorkspace() || s.Scripted() || s.Token.Set() || s.OpenAIKey.Set() {
		t.Errorf("a workspace, the scripted model or a secret out of nothing: %+v", s)
	}
}

func TestDefaultsInTheImageInAWorkspace(t *testing.T) {
	s := mustLoad(t, []string{"/configs", "/workspace", "/usr/bin/codex"},
		"WORKSPACE_ID=w", "PLATFORM_URL=http://platform:8080/", "RUNTIME_IN_CONTAINER=1", "PATH=/bin:/usr/bin")
	got := fmt.Sprint(s.Addr, s.Reply, s.WorkDir, s.StateDir, s.CodexBin, s.CodexHome, s.Sandbox, s.ApprovalPolicy, s.PlatformURL)
	want := fmt.Sprint("0.0.0.0:8000", "message", "/workspace", "/configs/.runtime", "/usr/bin/codex", "/configs/.codex",
		"danger-full-access", "never", "http://platform:8080")
	if got != want {
		t.Errorf("defaults:\n got %s\nwant %s", got, want)
	}
}

func TestSandboxAutoNeedsBothImageAndPlatform(t *testing.T) {
	for name, environ := range map[string][]string{
		"image-alone":       {"RUNTIME_IN_CONTAINER=1"},
		"platform-no-image": {"WORKSPACE_ID=w", "PLATFORM_URL=http://p"},
		"id-without-url":    {"RUNTIME_IN_CONTAINER=1", "WORKSPACE_ID=w"},
	} {
		t.Run(name, func(t *testing.T) {
			if s := mustLoad(t, nil, environ...); s.Sandbox != "workspace-write" || s.ApprovalPolicy != "on-request" {
				t.Errorf("sandbox %s, approvals %s", s.Sandbox, s.ApprovalPolicy)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	for name, c := range map[string]struct {
		environ []string
		got     func(Settings) string
		want    string
	}{
		"tilde":        {[]string{"CODEX_HOME=~/c"}, func(s Settings) string { return s.CodexHome }, "/home/u/c"},
		"relative":     {[]string{"RUNTIME_WORKDIR=../x"}, func(s Settings) string { return s.WorkDir }, "/x"},
		"state-home":   {[]string{"XDG_STATE_HOME=/s"}, func(s Settings) string { return s.StateDir }, "/s/molecule-codex-runtime"},
		"state-odd":    {[]string{"XDG_STATE_HOME=s"}, func(s Settings) string { return s.StateDir }, "/home/u/.local/state/molecule-codex-runtime"},
		"bin-relative": {[]string{"CODEX_BIN=./codex", "RUNTIME_WORKDIR=/w"}, func(s Settings) string { return s.CodexBin }, "/src/codex"},
		"tmp":          {[]string{"TMPDIR=/t"}, func(s Settings) string { return s.TempDir }, "/t"},
		"configs-home": {[]string{"WORKSPACE_ID=w", "PLATFORM_URL=http://p"}, func(s Settings) string { return s.ConfigsDir }, "/home/u/.molecule-workspace"},
		"configs-set":  {[]string{"WORKSPACE_ID=w", "PLATFORM_URL=http://p", "CONFIGS_DIR=/c"}, func(s Settings) string { return s.CodexHome }, "/c/.codex"},
		"plugins":      {[]string{"WORKSPACE_ID=w", "PLATFORM_URL=http://p", "PLUGINS_DIR=~/p"}, func(s Settings) string { return s.PluginsDir }, "/home/u/p"},
		"no-plugins":   {[]string{"WORKSPACE_ID=w", "PLATFORM_URL=http://p"}, func(s Settings) string { return s.PluginsDir }, ""},
		"blanks":       {[]string{"RUNTIME_ADDR= 127.0.0.1:9 \n"}, func(s Settings) string { return s.Addr }, "127.0.0.1:9"},
		"empty":        {[]string{"RUNTIME_MAX_TURNS="}, func(s Settings) string { return fmt.Sprint(s.MaxTurns) }, "4"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.got(mustLoad(t, nil, c.environ...)); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestNoHome(t *testing.T) {
	_, _, err := load(nil, fakeHost{dir: "/src"})
	if err == nil || !strings.Contains(err.Error(), "set CODEX_HOME to a directory, or set HOME") {
		t.Errorf("load without HOME: %v", err)
	}
	if _, _, err := load([]string{"CODEX_HOME=/h", "RUNTIME_STATE_DIR=/s"}, fakeHost{dir: "/src"}); err != nil {
		t.Errorf("load without HOME and without need of it: %v", err)
	}
}

func TestBadValuesAreAllNamed(t *testing.T) {
	bad := map[string]string{
		"RUNTIME_MAX_TURNS":     `"many" is not a number between 1 and 256`,
		"RUNTIME_MAX_QUEUE":     `"0" is not a number between 1 and 10000`,
		"RUNTIME_CARD":          `"2.0" is not one of union, 1.0`,
		"RUNTIME_MODEL":         `"gpt-5" is not scripted`,
		"RUNTIME_INSECURE":      `"maybe" is not a yes or no`,
		"RUNTIME_PUBLIC_URL":    `"example.com" is not a URL`,
		"CODEX_TURN_TIMEOUT":    `"5" is not a duration between 0s and 168h`,
		"CODEX_IDLE_TIMEOUT":    `"-1s" is not a duration`,
		"CODEX_SANDBOX":         `"none" is not one of auto, read-only`,
		"CODEX_APPROVAL_POLICY": `"on-failure" is not one of auto`,

		"MOLECULE_A2A_REQUIRE_AUTH": `"enabled" is not a yes or no`,
	}
	var environ []string
	for name, text := range bad {
		environ = append(environ, name+"="+strings.Split(text, `"`)[1])
	}
	_, _, err := at(t, nil, environ...)
	if got := len(Problems(err)); got != len(bad) {
		t.Errorf("%d problems, want %d: %v", got, len(bad), err)
	}
	for name, want := range bad {
		if !strings.Contains(fmt.Sprint(err), name+"="+want) {
			t.Errorf("no word of %s=%s in: %v", name, want, err)
		}
	}
}

// TestPasswordInAURLIsNotShown refuses what may hold a secret without repeating it.
func TestPasswordInAURLIsNotShown(t *testing.T) {
	for _, value := range []string{"https://user:hunter2@h/v1", "https://h/v1?key=hunter2"} {
		_, _, err := at(t, nil, "OPENAI_BASE_URL="+value)
		if text := fmt.Sprint(err); !strings.Contains(text, "without a user, a password or a query") || strings.Contains(text, "hunter2") {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// TestRequireAuth: what is neither a yes nor a no leaves no door open.
func TestRequireAuth(t *testing.T) {
	workspace := []string{"WORKSPACE_ID=w", "PLATFORM_URL=http://platform"}
	for value, want := range map[string]bool{"": false, "0": false, "No": false, "FALSE": false, "off": false, "1": true, "yes": true, "True": true, " ON\r": true} {
		if s := mustLoad(t, nil, append(workspace, "MOLECULE_A2A_REQUIRE_AUTH="+value)...); s.RequireAuth() != want {
			t.Errorf("%q asks: %v", value, s.RequireAuth())
		}
	}
	for _, value := range []string{`"1"`, "'true'", "y", "t", "2", "required", "yes # ask"} {
		if _, _, err := at(t, nil, append(workspace, "MOLECULE_A2A_REQUIRE_AUTH="+value)...); err == nil {
			t.Errorf("%q is taken", value)
		}
	}
}

func TestZeroTurnsATimerOff(t *testing.T) {
	if s := mustLoad(t, nil, "CODEX_IDLE_TIMEOUT=0"); s.IdleTimeout != 0 {
		t.Errorf("IdleTimeout = %v", s.IdleTimeout)
	}
}

func TestDoor(t *testing.T) {
	for name, c := range map[string]struct {
		environ []string
		opens   bool
	}{
		"any":           {[]string{"RUNTIME_ADDR=0.0.0.0:8000"}, false},
		"no-host":       {[]string{"RUNTIME_ADDR=:8000"}, false},
		"six":           {[]string{"RUNTIME_ADDR=[::]:8000"}, false},
		"name":          {[]string{"RUNTIME_ADDR=box:8000"}, false},
		"token":         {[]string{"RUNTIME_ADDR=:8000", "RUNTIME_TOKEN=correct-horse-battery"}, true},
		"short":         {[]string{"RUNTIME_ADDR=:8000", "RUNTIME_TOKEN=123456789012345"}, false},
		"enough":        {[]string{"RUNTIME_ADDR=:8000", "RUNTIME_TOKEN=1234567890123456"}, true},
		"short-six":     {[]string{"RUNTIME_ADDR=[::]:8000", "RUNTIME_TOKEN=x"}, false},
		"short-inside":  {[]string{"WORKSPACE_ID=w", "PLATFORM_URL=http://p", "RUNTIME_TOKEN=x"}, false},
		"short-here":    {[]string{"RUNTIME_TOKEN=x"}, true},
		"short-proxied": {[]string{"RUNTIME_TOKEN=x", "RUNTIME_PUBLIC_URL=https://agent.example"}, false},
		"short-forward": {[]string{"RUNTIME_TOKEN=x", "RUNTIME_PUBLIC_URL=http://localhost:9"}, true},
		"short-guarded": {[]string{"RUNTIME_ADDR=:8000", "RUNTIME_TOKEN=x", "RUNTIME_INSECURE=1"}, true},
		"insecure":      {[]string{"RUNTIME_ADDR=:8000", "RUNTIME_INSECURE=1"}, true},
		"workspace":     {[]string{"WORKSPACE_ID=w", "PLATFORM_URL=http://p"}, true},
		"loopback":      {[]string{"RUNTIME_ADDR=127.1.2.3:0"}, true},
		"loopback-six":  {[]string{"RUNTIME_ADDR=[::1]:8000"}, true},
		"loopback-name": {[]string{"RUNTIME_ADDR=localhost:8000"}, true},
		"no-port":       {[]string{"RUNTIME_ADDR=127.0.0.1"}, false},
		"big-port":      {[]string{"RUNTIME_ADDR=127.0.0.1:70000"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := at(t, nil, c.environ...); (err == nil) != c.opens {
				t.Errorf("load(%q): %v", c.environ, err)
			}
		})
	}
	_, _, err := at(t, nil, "RUNTIME_ADDR=:8000")
	for _, way := range []string{"RUNTIME_TOKEN", "RUNTIME_INSECURE=1", "loopback"} {
		if !strings.Contains(fmt.Sprint(err), way) {
			t.Errorf("the refusal does not name %s: %v", way, err)
		}
	}
	_, _, err = at(t, nil, "RUNTIME_ADDR=:8000", "RUNTIME_TOKEN=sesame-street")
	if said := fmt.Sprint(err); !strings.Contains(said, "16 characters") || !strings.Contains(said, "openssl rand -hex 32") || strings.Contains(said, "sesame") {
		t.Errorf("a short token: %v", err)
	}
	if _, warnings, err := at(t, nil, "RUNTIME_TOKEN=sesame-street"); len(warnings) != 1 || err != nil {
		t.Errorf("a short token on loopback: %v, %v", warnings, err)
	}
	if _, warnings, _ := at(t, nil, "RUNTIME_ADDR=:8000", "RUNTIME_INSECURE=1"); len(warnings) != 1 {
		t.Errorf("an open port is not warned about: %v", warnings)
	}
}

// TestCodexUser has codex's home be codex's user's, and no door that would need a token
// which that user cannot read.
func TestCodexUser(t *testing.T) {
	s := mustLoad(t, nil, "CODEX_USER=agent")
	if s.User == nil || s.CodexHome != "/home/agent/.codex" || s.StateDir != "/home/u/.local/state/molecule-codex-runtime" {
		t.Errorf("user %v, home %s, state %s", s.User, s.CodexHome, s.StateDir)
	}
	if s := mustLoad(t, nil, "CODEX_USER=u"); s.User != nil || s.CodexHome != "/home/u/.codex" {
		t.Errorf("ourselves: user %v, home %s", s.User, s.CodexHome)
	}
	workspace := []string{"WORKSPACE_ID=w", "PLATFORM_URL=http://platform", "RUNTIME_TOOLS=mcp"}
	for _, wrong := range [][]string{{"CODEX_USER=nobody-here"}, append(workspace, "CODEX_USER=agent")} {
		if _, _, err := at(t, nil, wrong...); err == nil || !strings.Contains(err.Error(), "CODEX_USER") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	if _, _, err := at(t, nil, append(workspace, "CODEX_USER=u")...); err != nil {
		t.Error(err)
	}
}
