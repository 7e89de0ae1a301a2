package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A source is what the tests of a package name.
type source struct {
	funcs    map[string]bool // test functions
	literals map[string]bool // strings
}

func readTests(t *testing.T, dir string) source {
	t.Helper()
	s := source{funcs: map[string]bool{}, literals: map[string]bool{}}
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in %s: %v", dir, err)
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
					s.funcs[n.Name.Name] = true
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					s.literals[strings.TrimSuffix(text, "/")] = true
				}
			}
			return true
		})
	}
	return s
}

// TestConformanceDocument keeps docs/conformance.md true: the tests that it names
// exist, all of the suite's requirements stand in it, and so do those that our
// tests name.
func TestConformanceDocument(t *testing.T) {
	sources := map[string]source{
		"tcksut": readTests(t, "internal/tcksut"), "server": readTests(t, "server"), "tasks": readTests(t, "tasks"),
	}
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z]+)\\.(Test\\w+)(?:/([^`]+))?`")
	rows := map[string]int{}
	for line := range strings.Lines(string(doc)) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		id, last := strings.Trim(cells[1], " `"), strings.TrimSpace(cells[len(cells)-2])
		rows[id]++
		tests := named.FindAllStringSubmatch(last, -1)
		if len(tests) == 0 && len(last) < len("As AUTH-TLS-001.") {
			t.Errorf("%s has neither test nor reason: %q", id, last)
		}
		for _, m := range tests {
			s, known := sources[m[1]]
			if !known || !s.funcs[m[2]] || m[3] != "" && !s.literals[m[3]] {
				t.Errorf("%s names %s, which does not exist", id, m[0])
			}
		}
	}
	requirement := regexp.MustCompile(`^[A-Z_]+(-[A-Z]+)+-\d{3}a?$`)
	checked := regexp.MustCompile(`^test_[a-z0-9_]+$`)
	v1 := slices.DeleteFunc(slices.Collect(maps.Keys(rows)), func(id string) bool { return !requirement.MatchString(id) })
	if len(v1) != 129 {
		t.Errorf("%d requirements of 1.0, want the 129 of the suite", len(v1))
	}
	for text := range sources["tcksut"].literals {
		if (requirement.MatchString(text) || checked.MatchString(text)) && rows[text] == 0 {
			t.Errorf("a test names %s, which stands in no table", text)
		}
	}
	for id, n := range rows {
		if n > 1 && requirement.MatchString(id) {
			t.Errorf("%s stands there %d times", id, n)
		}
	}
}
