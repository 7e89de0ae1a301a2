package connect_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// onPage is what docs/getting-started.md has people type, under a mark.
func onPage(t *testing.T, mark string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(codextest.Root(t), "docs/getting-started.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)<!-- tested: " + mark + " -->\n```sh\n(.*?)```").FindSubmatch(text)
	if found == nil {
		t.Fatalf("the page has no command %s", mark)
	}
	return string(found[1])
}

// TestGettingIt types what the page says where nothing but the usual programs is there: the
// program is there then, and codex, and doctor runs. What has another checksum is not.
func TestGettingIt(t *testing.T) {
	const program = "#!/bin/sh\nif [ \"$1\" = version ]; then printf 'runtime v1.2.3 (x)\\ncodex 9.8.7\\nA2A 1.0\\n'; else echo \"$*\" >>\"$HOME/runtime.calls\"; fi\n"
	good := packed(t, program)
	for name, c := range map[string]struct{ sums, want, check string }{
		"good":  {sums(sumOf(good), archive), "molecule-runtime", "sha256sum -c -"},
		"macOS": {sums(sumOf(good), archive), "molecule-runtime", "shasum -a 256 -c -"},
		"wrong": {sums(wrong, archive), "", "sha256sum -c -"},
		"other": {sums(sumOf(good), "other.tar.gz"), "", "sha256sum -c -"},
	} {
		t.Run(name, func(t *testing.T) {
			inShells(t, func(t *testing.T, at *terminal) {
				at.lacks("bin/molecule-runtime")
				at.only("curl", "gzip", "tar", "perl", strings.Fields(c.check)[0])
				at.has("bin/npm", "#!/bin/sh\necho \"$*\" >\"$HOME/npm.calls\"\n")
				from := serve(t, map[string]string{archive: good, "SHA256SUMS": c.sums}).URL
				typed := regexp.MustCompile(`https://\S+/\$release`).ReplaceAllLiteralString(onPage(t, "get"), from)
				typed = strings.NewReplacer("linux_amd64", system, "sha256sum -c -", c.check).Replace(typed)
				if shown, status := at.paste(typed, "TMPDIR="+t.TempDir()); status == 0 != (c.want != "") || strings.Join(at.holds(".local/bin"), " ") != c.want {
					t.Fatalf("exit %d, and there is %v: %s", status, at.holds(".local/bin"), shown)
				}
				if c.want == "" {
					return
				}
				shown, status := at.paste(onPage(t, "get-codex"))
				if status != 0 || at.read("npm.calls") != "install -g @openai/codex@9.8.7\n" || at.read("runtime.calls") != "doctor\n" {
					t.Errorf("exit %d, npm: %s: %s", status, at.read("npm.calls"), shown)
				}
			})
		})
	}
}
