package connect_test

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/connect"
)

// The ways by which the block gets its values, by the age of the platform. Both servers
// replace a placeholder wherever it stands, the page of June the first occurrence of its
// line, and the values are not looked at.

// filled is what the newest server shows: it knows all placeholders.
func filled(url, id, token, name string) string {
	return strings.NewReplacer("{{PLATFORM_URL}}", url, "{{WORKSPACE_ID}}", id, "{{MCP_SERVER_NAME}}", name, "{{AUTH_TOKEN}}", token).Replace(connect.Template(connect.Release{}))
}

// filledByPage is what the page of June shows: its server leaves the token to it.
func filledByPage(url, id, token, name string) string {
	block := strings.NewReplacer("{{PLATFORM_URL}}", url, "{{WORKSPACE_ID}}", id, "{{MCP_SERVER_NAME}}", name).Replace(connect.Template(connect.Release{}))
	return strings.Replace(block, `MOLECULE_WORKSPACE_TOKEN = "<paste from create response>"`, `MOLECULE_WORKSPACE_TOKEN = "`+token+`"`, 1)
}

// filledHere is what runtime connect prints: older platforms have no such block.
func filledHere(url, id, token, name string) string {
	block, err := connect.Fill(connect.Values{PlatformURL: url, WorkspaceID: id, Token: token, ServerName: name})
	if err != nil {
		return err.Error()
	}
	return block
}

var fillings = map[string]func(url, id, token, name string) string{"april": filledHere, "june": filledByPage, "august": filled}

// TestEveryPlatformsBlockConnects pastes the block as each of them fills it in.
func TestEveryPlatformsBlockConnects(t *testing.T) {
	for era, fill := range fillings {
		t.Run(era, func(t *testing.T) {
			inShells(t, func(t *testing.T, at *terminal) {
				if shown, status := at.paste(fill(goodURL, goodID, goodToken, goodMCP)); status != 0 {
					t.Fatalf("exit %d: %s", status, shown)
				}
				env := strings.Split(at.read("runtime.env"), "\n")
				for _, variable := range []string{"WORKSPACE_ID=" + goodID, "PLATFORM_URL=" + goodURL} {
					if !slices.Contains(env, variable) {
						t.Errorf("the channel is not told %s", variable)
					}
				}
				if got := at.read("runtime.token"); got != goodToken+"\n" {
					t.Errorf("the channel finds the token %q", got)
				}
				if got := at.read("codex.calls"); !strings.HasPrefix(got, "<mcp><add><"+goodMCP+">") {
					t.Errorf("codex was called with %s", got)
				}
			})
		})
	}
}

// TestEveryPlatformsBlockNeedsAToken pastes it as it is shown again, without the token:
// a placeholder of another age of the platform is none either.
func TestEveryPlatformsBlockNeedsAToken(t *testing.T) {
	shown := map[string]string{
		"april": filledHere(goodURL, goodID, "", goodMCP), "june": filledByPage(goodURL, goodID, "", goodMCP),
		"june-by-hand": strings.ReplaceAll(filledByPage(goodURL, goodID, "X", goodMCP), `"X"`, `"<paste from create response>"`),
		"august":       filled(goodURL, goodID, connect.NoToken, goodMCP),
	}
	inShells(t, func(t *testing.T, at *terminal) {
		for era, block := range shown {
			if shown, _ := at.paste(block); !strings.Contains(shown, sentinel) || !strings.Contains(shown, "nothing was done") {
				t.Errorf("%s: it shows %s", era, shown)
			}
			at.untouched()
		}
	})
}

// TestWhatPlatformsAskOfTheBlock holds it to what the tests of their servers look for in
// each block that they offer for a codex.
func TestWhatPlatformsAskOfTheBlock(t *testing.T) {
	template := connect.Template(connect.Release{})
	if strings.Contains(template, "MOLECULE_ORG_ID") || strings.Contains(template, "<your org id>") {
		t.Error("it wants an organisation's id, which no dialog shows")
	}
	if !strings.Contains(template, "molecule-mcp") || strings.Contains(template, "a2a_mcp_server") {
		t.Error("it does not say what becomes of molecule-mcp, which is what keeps a workspace online there")
	}
	if dead := regexp.MustCompile(`(?i)github\.com/molecule-ai/|marketplace add molecule-ai/`).FindString(template); dead != "" {
		t.Errorf("%s leads nowhere", dead)
	}
	for era, fill := range map[string]func(url, id, token, name string) string{"june": filledByPage, "august": filled} {
		block := fill("https://p.test", "id-a", "tok==", connect.ServerName("my-bot", "id-a"))
		if !strings.Contains(block, "[mcp_servers.molecule-my-bot]") {
			t.Errorf("%s: the table of codex's is not named after the workspace", era)
		}
		for _, left := range []string{"{{PLATFORM_URL}}", "{{WORKSPACE_ID}}", "{{MCP_SERVER_NAME}}"} {
			if strings.Contains(block, left) {
				t.Errorf("%s: %s is left", era, left)
			}
		}
		if strings.Count(block, `MOLECULE_WORKSPACE_TOKEN = "tok=="`) != 1 {
			t.Errorf("%s: the token is not in its place", era)
		}
	}
}

// TestBlockShownAgainRunsNothing pastes what the newest server shows without a token into
// a shell that leaves with the first failure and finds no program: the block has to say
// what to do and to end well, for it must not take the terminal along.
func TestBlockShownAgainRunsNothing(t *testing.T) {
	home := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "bash", "-eu")
	cmd.Env = []string{"HOME=" + home, "PATH=/there-is-none"}
	cmd.Stdin = strings.NewReader("set -o pipefail\n" + filled(goodURL, goodID, connect.NoToken, goodMCP))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), sentinel) {
		t.Errorf("%v: %s", err, out)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}
