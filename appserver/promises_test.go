package appserver

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestAllIsPromised: what is called, and what is told apart by its name, stands among the promises. Otherwise a codex
// without it would be taken.
func TestAllIsPromised(t *testing.T) {
	var promised []string
	for _, p := range slices.Concat(promisedCalls(), promisedNotes(), promisedRequests()) {
		promised = append(promised, p.method)
	}
	for _, w := range promisedWords() {
		promised = append(promised, w.ours...)
	}
	outside := []string{NoteOverflow, "getAuthStatus", MethodCurrentTime} // ours, one that no schema names, and one that is answered where it is asked
	named := methodsInSource(t)
	if len(named) < 70 {
		t.Errorf("%d names were found: this test does not look well", len(named))
	}
	for _, name := range named {
		if !slices.Contains(promised, name) && !slices.Contains(outside, name) {
			t.Errorf("%q is used and not promised: promises.go", name)
		}
	}
}

// methodsInSource are the texts that the package names methods and kinds by: its constants Note…, Method…, Item… and
// Turn…, and what its calls are made with.
func methodsInSource(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, _ := strconv.Unquote(lit.Value)
			names = append(names, text)
		}
	}
	for _, entry := range entries {
		if name := entry.Name(); !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), entry.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, id := range n.Names {
					for _, prefix := range []string{"Note", "Method", "method", "Item", "Turn"} {
						if strings.HasPrefix(id.Name, prefix) && i < len(n.Values) {
							add(n.Values[i])
						}
					}
				}
			case *ast.CallExpr:
				if of, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Call", "call", "open"}, of.Sel.Name) && len(n.Args) > 1 {
					add(n.Args[1])
				}
			}
			return true
		})
	}
	return names
}
