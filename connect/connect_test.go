package connect_test

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/connect"
	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
)

// sentinel is what the platform looks for in a block that keeps a token.
const sentinel = "molecule: this block has NO TOKEN"

func TestTemplate(t *testing.T) {
	text := connect.Template(connect.Release{})
	for _, place := range []string{
		"[mcp_servers.{{MCP_SERVER_NAME}}]", `WORKSPACE_ID = "{{WORKSPACE_ID}}"`, `PLATFORM_URL = "{{PLATFORM_URL}}"`,
		`MOLECULE_WORKSPACE_TOKEN = "<paste from create response>"`, `MOLECULE_WORKSPACE_TOKEN = "{{AUTH_TOKEN}}"`,
	} {
		if strings.Count(text, "\n"+place+"\n") != 1 {
			t.Errorf("%s does not stand once, on a line of its own", place)
		}
	}
	if strings.Count(text, "{{") != 4 {
		t.Error("there is a placeholder that the platform does not know, or one twice")
	}
	if !strings.Contains(text, sentinel) {
		t.Error("it does not say what it says without a token")
	}
	if pin := codex.Pinned(); strings.Count(text, pin) != 1 || !strings.Contains(text, "\ncodex="+pin+"\n") || !strings.Contains(text, ` "@openai/codex@$codex" --no-update-notifier </dev/null`) {
		t.Errorf("the version of codex is not %s, in one line", pin)
	}
	for line := range strings.Lines(text) {
		if strings.Contains(line, "!") && !strings.Contains(line, "if !") || strings.HasPrefix(strings.TrimSpace(line), "#") {
			t.Errorf("a terminal takes this line otherwise than a script does: %s", line)
		}
	}
}

// TestTemplateNamesItsRelease: the program knows which it is of, and the sum of its source.
// One that is of none says so by an empty line.
func TestTemplateNamesItsRelease(t *testing.T) {
	const sum = "h1:3pKjkQJwQ/Vl8aEFx7YbX3JqD/q19jRo4Je0y8SqcdM="
	for version, want := range map[string]string{
		"v1.2.3": "v1.2.3", "v1.2.3-rc.1": "v1.2.3-rc.1", "v1.2.3-beta2": "v1.2.3-beta2",
		"dev": "", "": "", "abd34d61": "", "v1.2.3-4-gabd34d61": "", "v1.2.3-dirty": "", "v1.2.4-0.20260102030405-abd34d61abd3": "", "v1.2.3+dirty": "", "v1.2.3\ntouch pwned": "", "latest": "",
	} {
		lines := "\nrelease=" + want + "\nsums=\n"
		if want != "" {
			lines = "\nrelease=" + want + "\nsums='source=" + sum + "'\n"
		}
		release := connect.ReleaseOf(version, sum)
		if text := connect.Template(release); release.Name != want || !strings.Contains(text, lines) {
			t.Errorf("%q: it is of release %q, and its block has not%s", version, release.Name, lines)
		}
	}
	for _, odd := range []string{"", "h1:", "h1:'; touch pwned; '", "go.sum"} {
		if text := connect.Template(connect.ReleaseOf("v1.2.3", odd)); !strings.Contains(text, "\nrelease=v1.2.3\nsums=\n") {
			t.Errorf("it takes %q for a sum", odd)
		}
	}
	if text, err := connect.Fill(connect.Values{Release: connect.Release{Name: "v1.2.3"}}); err != nil || !strings.Contains(text, "\nrelease=v1.2.3\n") {
		t.Errorf("filled in, it names no release: %v", err)
	}
}

func TestFill(t *testing.T) {
	whole := connect.Values{PlatformURL: "https://p.example", WorkspaceID: "w-1", Token: "tok", ServerName: "molecule-w"}
	text, err := connect.Fill(whole)
	want := "[mcp_servers.molecule-w]\nWORKSPACE_ID = \"w-1\"\nPLATFORM_URL = \"https://p.example\"\nMOLECULE_WORKSPACE_TOKEN = \"tok\"\nMOLECULE_VALUES\n"
	if err != nil || !strings.Contains(text, want) {
		t.Errorf("it has not\n%s%v", want, err)
	}
	if text, err = connect.Fill(connect.Values{WorkspaceID: "w-1"}); err != nil || !strings.Contains(text, connect.NoToken) {
		t.Errorf("without a token: %v", err)
	}
	for _, bad := range []connect.Values{{Token: "a\nMOLECULE_VALUE\ntouch x"}, {PlatformURL: "a\rb"}, {WorkspaceID: "a\x1b[0m"}, {ServerName: "a\tb"}} {
		if _, err := connect.Fill(bad); err == nil || strings.Contains(err.Error(), "touch") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestServerName(t *testing.T) {
	for workspace, want := range map[string]string{
		"My Codex!": "molecule-my-codex", "7d2f0c9e": "molecule-7d2f0c9e", "  a -- b  ": "molecule-a-b",
		"a name that is longer than fits there": "molecule-a-name-that-is-longer-th", "日本": "molecule-12345678", "": "molecule-12345678",
	} {
		if got := connect.ServerName(workspace, "12345678-abcd"); got != want {
			t.Errorf("%q: %q, want %q", workspace, got, want)
		}
	}
}
