package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestErrorsPage keeps docs/errors.md and the program together: each text of the
// page is one of the program's, and what the program can say to callers, as far as
// it needs a thought, stands on the page.
func TestErrorsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(codextest.Root(t), "docs", "errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	src := readSource(t)
	texts := firstCells(string(page), "text")
	for _, text := range texts {
		if !slices.ContainsFunc(src.texts, func(have string) bool { return says(have, text) }) {
			t.Errorf("the page has %q, which the program never says", text)
		}
	}
	for _, text := range src.refusals {
		if !slices.ContainsFunc(texts, func(have string) bool { return says(text, have) || says(have, text) }) {
			t.Errorf("callers can be told %q, and the page does not have it", text)
		}
	}
	agree(t, "kind of failure", src.kinds, firstCells(string(page), "kind"))
	agree(t, "check", src.checks, firstCells(string(page), "check"))
}

// agree compares two sets.
func agree(t *testing.T, what string, program, page []string) {
	t.Helper()
	for _, name := range program {
		if !slices.Contains(page, name) {
			t.Errorf("the page lacks the %s %q", what, name)
		}
	}
	for _, name := range page {
		if !slices.Contains(program, name) {
			t.Errorf("the page has the %s %q, which the program lacks", what, name)
		}
	}
}

var cell = regexp.MustCompile("^\\| `([^`]+)` \\|")

// firstCells returns what is quoted in the first column of the tables whose head
// begins with a word.
func firstCells(page, head string) (cells []string) {
	in := false
	for line := range strings.Lines(page) {
		switch {
		case !strings.HasPrefix(line, "|"):
			in = false
		case strings.HasPrefix(line, "| "+head+" |"):
			in = true
		}
		if m := cell.FindStringSubmatch(line); in && m != nil {
			cells = append(cells, m[1])
		}
	}
	return cells
}

// gap stands in a text for what differs.
const gap = "…"

// says reports whether the pieces of a text stand in another one, in their order.
func says(have, text string) bool {
	found := false
	for piece := range strings.SplitSeq(text, gap) {
		if piece = strings.TrimSpace(piece); piece == "" || piece == ")" {
			continue
		}
		i := strings.Index(have, piece)
		if i < 0 {
			return false
		}
		have, found = have[i+len(piece):], true
	}
	return found
}

// A source is what the program can say.
type source struct {
	texts    []string // every string, with gaps
	refusals []string // those that callers are refused with
	kinds    []string // of failure
	checks   []string // of doctor and readiness
}

// readSource reads what is no test.
func readSource(t *testing.T) *source {
	t.Helper()
	s := &source{}
	root := codextest.Root(t)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"e2e", "bench", "tools", "interop", "testdata", "node_modules"}, name) || strings.HasPrefix(name, "fake")) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err == nil {
			s.read(filepath.Base(filepath.Dir(path)), file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(s.checks)
	s.checks = slices.Compact(s.checks)
	if len(s.texts) < 1000 || len(s.refusals) < 20 || len(s.kinds) < 7 || len(s.checks) < 10 {
		t.Fatalf("found %d texts, %d refusals, kinds %q, checks %q", len(s.texts), len(s.refusals), s.kinds, s.checks)
	}
	return s
}

func (s *source) read(pkg string, file *ast.File) {
	constants := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == len(spec.Names) {
			for i, name := range spec.Names {
				constants[name.Name] = folded(spec.Values[i])
			}
		}
		return true
	})
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit, *ast.BinaryExpr:
			if text := folded(n.(ast.Expr)); text != gap {
				s.texts = append(s.texts, text)
			}
		case *ast.ValueSpec:
			if nameOf(n.Type) == "FailureKind" {
				s.kinds = append(s.kinds, folded(n.Values[0]))
			}
		case *ast.CallExpr:
			s.call(pkg, n)
		case *ast.CompositeLit:
			s.check(n, constants)
		}
		return true
	})
}

// told are the errors whose texts stand on the page; those of the others name the
// member that is wrong.
var told = []string{
	"ErrServerError", "ErrInternalError", "ErrTaskNotFound", "ErrTaskNotCancelable", "ErrUnsupportedOperation",
	"ErrPushNotificationNotSupported", "ErrExtendedCardNotConfigured", "ErrVersionNotSupported", "ErrUnsupportedContentType",
}

// call takes in a refusal of a caller, and a check that is made by a function.
func (s *source) call(pkg string, c *ast.CallExpr) {
	switch name := nameOf(c.Fun); {
	case slices.Contains([]string{"refuse", "New", "NewError", "InState"}, name) && len(c.Args) >= 2 && slices.Contains(told, nameOf(c.Args[0])):
		for _, arg := range c.Args[1:] {
			if text := folded(arg); text != gap {
				s.refusals = append(s.refusals, text)
				break
			}
		}
	case pkg == "doctor" && (name == "Writable" || name == "toolCheck"):
		s.checks = append(s.checks, folded(c.Args[0]))
	}
}

// check takes in the name of a check, or of several in a list.
func (s *source) check(c *ast.CompositeLit, constants map[string]string) {
	if list, ok := c.Type.(*ast.ArrayType); ok && nameOf(list.Elt) == "Check" {
		for _, e := range c.Elts {
			if one, ok := e.(*ast.CompositeLit); ok && one.Type == nil {
				s.check(&ast.CompositeLit{Type: list.Elt, Elts: one.Elts}, constants)
			}
		}
	}
	if nameOf(c.Type) != "Check" || len(c.Elts) == 0 {
		return
	}
	value := c.Elts[0]
	if pair, ok := value.(*ast.KeyValueExpr); ok {
		if nameOf(pair.Key) != "Name" {
			return
		}
		value = pair.Value
	}
	name := folded(value)
	if constant, ok := constants[nameOf(value)]; ok {
		name = constant
	}
	if name != gap && name != "checks" { // the console's name for all of them
		s.checks = append(s.checks, name)
	}
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

var verb = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`)

// folded is the text of an expression, with gaps for what is not known.
func folded(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return verb.ReplaceAllString(text, gap)
		}
	case *ast.BinaryExpr:
		return folded(e.X) + folded(e.Y)
	case *ast.ParenExpr:
		return folded(e.X)
	}
	return gap
}
