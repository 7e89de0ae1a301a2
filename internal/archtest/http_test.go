package archtest

import (
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestClientsStayHTTP: each HTTP client of the program refuses a 101.
func TestClientsStayHTTP(t *testing.T) {
	const own = "internal/stayhttp/stayhttp.go"
	ourselves := []string{
		"channel/control/client.go",     // a socket of this program's
		"internal/forward/transport.go", // its users wrap it
		"internal/forward/upgrade.go",   // which leaves HTTP, and bounds what follows
	}
	client := regexp.MustCompile(`\bhttp\.(Client|Transport)\{|http\.Default(Client|Transport)`)
	seen := 0
	root := os.DirFS(codextest.Root(t))
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == "e2e" || name == "tools" || strings.HasPrefix(name, "internal/fake") || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"), name == own, slices.Contains(ourselves, name):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil || !client.Match(text) {
			return err
		}
		if seen++; !strings.Contains(string(text), "stayhttp.Transport{") {
			t.Errorf("%s: an HTTP client without stayhttp.Transport", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 4 {
		t.Errorf("only %d clients were found", seen)
	}
}
