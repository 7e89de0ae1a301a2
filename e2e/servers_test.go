package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/progtest"
)

// TestFoldersOfServers: servers that name no folder are started in codex's home, which commands do
// not write: those of a folder that the user trusts, and such as were added while codex runs.
func TestFoldersOfServers(t *testing.T) {
	t.Parallel()
	work, outside, home := codextest.Dir(t, "work"), codextest.Dir(t, "outside"), codextest.Home(t)
	server := func(name string) string {
		return fmt.Sprintf("[mcp_servers.%s]\ncommand = \"sh\"\nargs = [\"-c\", \"pwd > %s/%[1]s\"]\n", name, outside)
	}
	if err := os.Mkdir(filepath.Join(work, ".codex"), 0o755); err != nil {
		t.Fatal(err)
	}
	trusts := fmt.Sprintf("[projects.%q]\ntrust_level = \"trusted\"\n", work)
	writeFile(t, filepath.Join(work, ".codex", "config.toml"), server("first"))
	writeFile(t, filepath.Join(home, "config.toml"), trusts)
	p := start(t, "RUNTIME_WORKDIR="+work, "CODEX_HOME="+home)
	begun := func(name string) {
		t.Helper()
		file := filepath.Join(outside, name)
		progtest.WaitFor(t, "the server to have run", func() bool { said, err := os.ReadFile(file); return err == nil && len(said) > 0 })
		if got := strings.TrimSpace(contents(t, file)); got != home {
			t.Errorf("the server %s is started in %s", name, got)
		}
	}
	p.send("m1", "c1", "say hello")
	begun("first")
	writeFile(t, filepath.Join(work, ".codex", "config.toml"), server("first")+server("second"))
	writeFile(t, filepath.Join(home, "config.toml"), trusts+server("third"))
	p.send("m2", "c2", "say hello")
	begun("second")
	begun("third")
}
