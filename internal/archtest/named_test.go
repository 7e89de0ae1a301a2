package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
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
	packages, rows, seen := map[string]tests{}, 0, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		found := named.FindAllStringSubmatch(line, -1)
		for _, name := range found {
			dir := name[1]
			if packages[dir].functions == nil {
				packages[dir] = readTests(t, dir)
			}
			if !packages[dir].have(name[2], name[3]) {
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
	if want := 137; rows != want {
		t.Errorf("%d rows, want %d", rows, want)
	}
}

// tests are the test functions of a package, and the strings in them, among which are
// the names of their parts.
type tests struct{ functions, literals map[string]bool }

func (p tests) have(test, part string) bool {
	return p.functions[test] && (part == "" || p.literals[part])
}

func readTests(t *testing.T, dir string) tests {
	t.Helper()
	p := tests{functions: map[string]bool{}, literals: map[string]bool{}}
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("no tests in %s: %v", dir, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil {
					p.functions[n.Name.Name] = true
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					p.literals[text] = true
				}
			}
			return true
		})
	}
	return p
}
