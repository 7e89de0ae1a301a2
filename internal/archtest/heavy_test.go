package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codextest"
)

// TestHeavyTestsAreRun: what scripts/test.sh leaves out under the race detector, it runs without, in each
// package that has such tests.
func TestHeavyTestsAreRun(t *testing.T) {
	root := codextest.Root(t)
	script, err := os.ReadFile(filepath.Join(root, "scripts", "test.sh"))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`heavy='\^(.+)'`).FindSubmatch(script)
	packages := regexp.MustCompile(`-run "\$heavy" (.+) \|\|`).FindSubmatch(script)
	if names == nil || packages == nil {
		t.Fatal("scripts/test.sh does not say which tests are heavy, and where")
	}
	heavy := regexp.MustCompile(`(?m)^func ` + string(names[1]))
	found := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if err != nil || rel == "e2e" || rel != "." && strings.HasPrefix(d.Name(), ".") {
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return err
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !heavy.Match(text) {
			return err
		}
		found++
		if of := "./" + filepath.Dir(rel); !strings.Contains(" "+string(packages[1])+" ", " "+of+" ") {
			t.Errorf("%s has heavy tests, and scripts/test.sh runs none of %s", rel, of)
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("%d files with heavy tests: %v", found, err)
	}
}
