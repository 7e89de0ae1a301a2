package settings

import (
	"fmt"
	"strings"
	"testing"
)

func loadChannelWith(environ ...string) (Settings, error) {
	s, _, err := loadAs(append([]string{"HOME=/home/u"}, environ...), fakeHost{dir: "/src"}, true)
	return s, err
}

// TestChannelOfOne: three variables are enough, and beside the workspace the runtime
// stands alone.
func TestChannelOfOne(t *testing.T) {
	s, err := loadChannelWith("WORKSPACE_ID=w1", "PLATFORM_URL=https://p.example/", "MOLECULE_WORKSPACE_TOKEN=t1")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Spaces) != 1 || s.Spaces[0].ID != "w1" || s.Spaces[0].URL != "https://p.example" || s.Spaces[0].Token.Reveal() != "t1" {
		t.Errorf("%+v", s.Spaces)
	}
	if s.InWorkspace() || s.Addr != "" || s.StateDir != "/home/u/.codex-channel-molecule" || s.CodexHome != "/home/u/.codex" ||
		s.ApprovalPolicy != "never" || s.Sandbox != "workspace-write" || s.MidTurn != "steer" || s.OwnsLogin {
		t.Errorf("%+v", s)
	}
	if all := strings.Join(s.Secrets(), " "); all != "t1" {
		t.Errorf("secrets: %q", all)
	}
}

func TestChannelDirectories(t *testing.T) {
	const one = "WORKSPACE_ID=w1 PLATFORM_URL=https://p.example MOLECULE_WORKSPACE_TOKEN_FILE=~/token"
	for environ, want := range map[string][2]string{
		"":                                    {"/home/u/.codex-channel-molecule", "/home/u/.codex-channel-molecule"},
		"CODEX_CHANNEL_MOLECULE_STATE_DIR=/c": {"/c", "/c"},
		"CODEX_CHANNEL_MOLECULE_STATE_DIR=/c RUNTIME_STATE_DIR=/s": {"/s", "/c"},
	} {
		s, err := loadChannelWith(strings.Fields(one + " " + environ)...)
		if err != nil || s.StateDir != want[0] || s.ChannelDir != want[1] || s.Spaces[0].TokenFile != "/home/u/token" {
			t.Errorf("%q: %s, %s, %v, %v", environ, s.StateDir, s.ChannelDir, s.Spaces, err)
		}
		if dir, err := LoadChannelState(append([]string{"HOME=/home/u"}, strings.Fields(environ)...)); dir != want[0] || err != nil {
			t.Errorf("%q: %s, %v", environ, dir, err)
		}
	}
}

// TestChannelOfSeveral reads the list, and shows no token of it when it cannot.
func TestChannelOfSeveral(t *testing.T) {
	list := func(text string) []string {
		return []string{"PLATFORM_URL=https://p.example", "RUNTIME_WORKDIR=/src", "MOLECULE_WORKSPACES=" + text}
	}
	s, err := loadChannelWith(list(`[{"id":"w1","token":"secret-1"},{"id":"w2","token":"secret-2","platform_url":"https://q.example/"}]`)...)
	if err != nil || len(s.Spaces) != 2 || s.Spaces[0].URL != "https://p.example" || s.Spaces[1].URL != "https://q.example" {
		t.Errorf("%+v, %v", s.Spaces, err)
	}
	for name, c := range map[string]struct{ list, want string }{
		"odd-id":   {`[{"id":"w1@w2/","token":"secret-1"}]`, "a character that no id has"},
		"no-json":  {`id=w1 token=secret-1`, "is not JSON"},
		"no-list":  {`{"id":"w1","token":"secret-1"}`, "is not JSON"},
		"empty":    {`[]`, "names no workspace"},
		"no-id":    {`[{"token":"secret-1"}]`, "workspace 1 has no id"},
		"no-token": {`[{"id":"w1"}]`, "w1 has no token"},
		"twice":    {`[{"id":"w1","token":"secret-1"},{"id":"w1","token":"secret-2"}]`, "stands in it twice"},
		"no-url":   {`[{"id":"w1","token":"secret-1","platform_url":"nonsense"}]`, "has no URL"},
		"written":  {`[{"id":"w1","token":"secret-1"},{"id":"w2","token_file":"/src/t"}]`, "MOLECULE_WORKSPACES, /src/t, lies in the working directory"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadChannelWith(list(c.list)...)
			if text := fmt.Sprint(err); !strings.Contains(text, c.want) || strings.Contains(text, "secret-") {
				t.Errorf("%s", text)
			}
		})
	}
}

func TestChannelOfNothing(t *testing.T) {
	for environ, want := range map[string]string{
		"": "there is no workspace to work for",
		"WORKSPACE_ID=w1 PLATFORM_URL=https://p.example":                                                    "the workspace has no token",
		"WORKSPACE_ID=w1 PLATFORM_URL=https://p.example MOLECULE_WORKSPACE_TOKEN=t RUNTIME_TOOLS=mcp":       "not for runtime channel",
		"WORKSPACE_ID=w1 PLATFORM_URL=https://p.example MOLECULE_WORKSPACE_TOKEN=t RUNTIME_ADDR=0.0.0.0:80": "RUNTIME_ADDR",
	} {
		if _, err := loadChannelWith(strings.Fields(environ)...); !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q: %v", environ, err)
		}
	}
}
