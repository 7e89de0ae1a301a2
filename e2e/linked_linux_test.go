package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestTrustIsForNoLinks: the operator trusts a repository whose .codex has its settings and rules in
// the working directory, by links and by other names of files. Nothing of what commands write there
// counts.
func TestTrustIsForNoLinks(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]string{"own": "repo/mid/work", "between": "repo/mid", "above": "repo", "marked": "repo"} {
		for how, link := range map[string]func(to, from string) error{"links": os.Symlink, "names": os.Link} {
			t.Run(name+"-"+how, func(t *testing.T) {
				t.Parallel()
				dir, outside, home := codextest.Dir(t, "folder"), codextest.Dir(t, "outside"), codextest.Home(t)
				work, brought, root := filepath.Join(dir, "repo/mid/work"), filepath.Join(dir, at, ".codex"), filepath.Join(dir, at)
				settings, rules := filepath.Join(work, "settings.toml"), filepath.Join(work, "rules")
				writeFile(t, settings, "")
				writeFile(t, filepath.Join(rules, "x.rules"), "")
				err := errors.Join(os.MkdirAll(brought, 0o700), link(settings, filepath.Join(brought, "config.toml")))
				if how == "links" { // codex follows none of a file among its rules
					err = errors.Join(err, os.Symlink(rules, filepath.Join(brought, "rules")))
				} else {
					err = errors.Join(err, os.Mkdir(filepath.Join(brought, "rules"), 0o700), os.Link(filepath.Join(rules, "x.rules"), filepath.Join(brought, "rules/x.rules")))
				}
				if err != nil {
					t.Fatal(err)
				}
				repository, own := filepath.Join(dir, "repo"), "[projects.'"+root+"']\ntrust_level = 'trusted'\n"
				if name == "marked" { // as the operator has codex know a project
					repository, own = work, "project_root_markers = ['go.mod']\n"+own
					writeFile(t, filepath.Join(root, "go.mod"), "")
				}
				if out, err := exec.CommandContext(t.Context(), "git", "init", "-q", repository).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				writeFile(t, filepath.Join(home, "config.toml"), own)
				writeFile(t, filepath.Join(work, "AGENTS.md"), "words of AGENTS.md\n")
				p := start(t, "RUNTIME_WORKDIR="+work, "CODEX_HOME="+home, "CODEX_APPROVAL_POLICY=never")
				said := text(p.send("m1", "one", "run printf '[mcp_servers.x]\\ncommand = \"touch\"\\nargs = [\"'"+outside+"'/server\"]\\n' >settings.toml && "+
					"echo 'prefix_rule(pattern=[\"touch\"], decision=\"allow\")' >rules/x.rules && echo written"))
				if !strings.HasSuffix(said, "written") {
					t.Fatalf("the command says %q", said)
				}
				for _, context := range []string{"one", "two"} {
					p.send("m2"+context, context, "run touch "+outside+"/ruled")
				}
				for _, file := range []string{"server", "ruled"} {
					if _, err := os.Lstat(filepath.Join(outside, file)); err == nil {
						t.Errorf("a command has had %s made outside of the sandbox", file)
					}
				}
				unchanged(t, home, own) // codex would write that the repository is trusted
				if read := strings.Contains(string(p.Model.Requests()[0].Body), "words of AGENTS.md"); read != (name != "own") {
					t.Errorf("AGENTS.md is read: %v", read)
				}
				if log := p.Log(); !strings.Contains(log, "put the file itself there") {
					t.Error("the log does not say what to do")
				}
				if out, _ := p.Command("doctor"); !strings.Contains(out, "put the file itself there") {
					t.Errorf("doctor does not say what to do:\n%s", out)
				}
			})
		}
	}
}
