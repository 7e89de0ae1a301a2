// Package testnames knows the tests of this module by name, for documents that say
// which test holds a promise.
package testnames

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// Tests are the test functions of a package, and the strings in them, among which are
// the names of their parts.
type Tests struct{ functions, literals map[string]bool }

// Has reports whether there is a test, and a part of it unless that is "".
func (p Tests) Has(test, part string) bool {
	return p.functions[test] && (part == "" || p.literals[part])
}

// Of reads the tests of a package by its folder in the module.
func Of(t testing.TB, dir string) Tests {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	p := Tests{functions: map[string]bool{}, literals: map[string]bool{}}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(file), "..", "..", "..", dir, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("no tests in %s: %v", dir, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, p.note)
	}
	return p
}

func (p Tests) note(n ast.Node) bool {
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
}
