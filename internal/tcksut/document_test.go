package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A document is docs/conformance.md and what it is checked against.
type document struct {
	text    string
	rows    []row
	held    map[string]string // the test of this package that holds a requirement
	sources map[string]source // by the names that the document gives packages
}

// A row is one of a table: a requirement, and the document's last word on it.
type row struct {
	table, id, says string
}

func readDocument(t *testing.T) document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	d := document{text: string(text), sources: map[string]source{
		"tcksut": readTests(t, "internal/tcksut"), "server": readTests(t, "server"), "tasks": readTests(t, "tasks"),
	}}
	table := ""
	for line := range strings.Lines(d.text) {
		if heading, ok := strings.CutPrefix(line, "#"); ok {
			table = strings.Trim(heading, "# \n")
		}
		cells := strings.Split(line, "|")
		if len(cells) >= 4 && strings.Contains(cells[1], "`") {
			d.rows = append(d.rows, row{table, strings.Trim(cells[1], " `"), strings.TrimSpace(cells[len(cells)-2])})
		}
	}
	return d
}

// A source is what the tests of a package name.
type source struct {
	funcs    map[string]bool // test functions
	literals map[string]bool // strings, among them the names of subtests
}

func (s source) has(test, sub string) bool {
	return s.funcs[test] && (sub == "" || s.literals[sub])
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
					s.literals[text] = true
				}
			}
			return true
		})
	}
	return s
}
