package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/testnames"
)

// A named test is a package's folder, a test, and a part of it if one is meant.
var named = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz)[A-Za-z0-9]+)(?:/([^`]+))?`")

// TestNamedTests keeps docs/workspace-tests.md true: each row of a table has tests, and
// they exist.
func TestNamedTests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "workspace-tests.md"))
	if err != nil {
		t.Fatal(err)
	}
	packages, rows, seen := map[string]testnames.Tests{}, 0, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		found := named.FindAllStringSubmatch(line, -1)
		for _, name := range found {
			dir := name[1]
			if _, read := packages[dir]; !read {
				packages[dir] = testnames.Of(t, dir)
			}
			if !packages[dir].Has(name[2], name[3]) {
				t.Errorf("%s does not exist", name[0])
			}
		}
		cells := strings.Split(strings.TrimSpace(line), "|")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.TrimSpace(cells[len(cells)-2]) == "tests" {
			continue
		}
		rows++
		if len(found) == 0 || len(cells) != 4 || strings.Count(cells[2], "`") != 2*len(found) {
			t.Errorf("not a row with tests: %s", line)
		}
		if seen[cells[1]] {
			t.Errorf("stands twice: %s", cells[1])
		}
		seen[cells[1]] = true
	}
	// Whoever adds a row or takes one away says so here.
	if want := 178; rows != want {
		t.Errorf("%d rows, want %d", rows, want)
	}
}
