package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/connect"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/minutes"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// TestFirstMinutes goes the way of the Connect dialog as a new user does: the block of a release is
// pasted where neither the program nor codex is, nor leave to install for all, until the user's message
// has its answer.
func TestFirstMinutes(t *testing.T) {
	minutes.Mark(t)
	home, settings := minutes.StrangersHome(t)
	model, platform := modeltest.Start(t, fakemodel.Keywords), fakeplatform.Start(t, fakeplatform.AUG)
	workspace := platform.Add(fakeplatform.Workspace{Name: "My Codex", Poll: true, Status: "awaiting_agent"})
	from, block := releaseOf(t)
	block = strings.NewReplacer("{{PLATFORM_URL}}", platform.URL, "{{WORKSPACE_ID}}", workspace.ID(),
		"{{MCP_SERVER_NAME}}", connect.ServerName("My Codex", workspace.ID()), "{{AUTH_TOKEN}}", workspace.Token()).Replace(block)

	settings = append(settings, "MOLECULE_RELEASE_URL="+from, "OPENAI_BASE_URL="+model.BaseURL(), "OPENAI_API_KEY=key-of-a-new-user")
	at := minutes.Type(t, home, block, settings...)
	at.Await("the inbox of a workspace is read")
	if _, err := workspace.Say(t.Context(), "say what the platform shows"); err != nil {
		t.Fatal(err)
	}
	progtest.WaitFor(t, "the user to be answered", func() bool { return len(workspace.Notices()) > 0 })
	if told := workspace.Notices()[0].Message; !strings.Contains(told, "what the platform shows") {
		t.Errorf("the user was told %q", told)
	}
	minutes.Report(t, "connect", at.Took(), "no cache of npm, the archive from loopback; "+at.Quiet())
}

// releaseOf makes a release of the clone for this system, serves it, and returns its block as the
// platform has it.
func releaseOf(t *testing.T) (url, block string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "dist")
	making := exec.CommandContext(t.Context(), "go", "run", "./release", "-root", "..", "-out", out, "-version", "v0.0.0-first-minutes",
		"-epoch", "1", "-targets", runtime.GOOS+"/"+runtime.GOARCH)
	making.Dir = filepath.Join(codextest.Root(t), "tools")
	if said, err := making.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	text, err := os.ReadFile(filepath.Join(out, "codex.snippet"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(out)))
	t.Cleanup(server.Close)
	return server.URL, string(text)
}
