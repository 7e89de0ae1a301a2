package platform_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakeplatform"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// TestObserve: each call is seen once, whatever it took, with what became of it; and the
// observer's header goes with it.
func TestObserve(t *testing.T) {
	var seen []string
	s := newSite(t, fakeplatform.AUG, func(c *platform.Config) {
		c.Observe = func(_ context.Context, call string) (http.Header, func(error)) {
			return http.Header{"Traceparent": {"of " + call}}, func(err error) { seen = append(seen, call+": "+platform.Outcome(err)) }
		}
	})
	s.register(t)
	if _, err := s.Peers(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Discover(t.Context(), "nobody"); err == nil {
		t.Error("nobody was discovered")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, _ = s.Peers(gone)
	s.cfg.URL = "http://127.0.0.1:1"
	away := platform.New(s.cfg)
	defer away.Close()
	_, _ = away.Peers(platform.Once(t.Context()))
	want := []string{"register: ok", "list the peers: ok", "discover a peer: refused", "list the peers: canceled", "list the peers: unavailable"}
	if !slices.Equal(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
	for _, r := range s.p.Requests() {
		if !strings.HasPrefix(r.Header.Get("Traceparent"), "of ") {
			t.Errorf("%s %s has no header of the observer's", r.Method, r.Path)
		}
	}
}

func TestOutcome(t *testing.T) {
	for want, err := range map[string]error{
		"ok": nil, "refused": &platform.Error{Status: 404}, "unavailable": &platform.Error{Status: 503},
		"canceled": context.Canceled, "failed": errors.New("odd"),
	} {
		if got := platform.Outcome(err); got != want {
			t.Errorf("%v is %s, want %s", err, got, want)
		}
	}
}

// TestCallsAreNamedByConstants: their names are labels of metrics.
func TestCallsAreNamedByConstants(t *testing.T) {
	set := token.NewFileSet()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			if name, ok := lit.Type.(*ast.Ident); !ok || name.Name != "request" {
				return true
			}
			for _, e := range lit.Elts {
				kv := e.(*ast.KeyValueExpr)
				if kv.Key.(*ast.Ident).Name != "op" {
					continue
				}
				names++
				switch value := kv.Value.(type) {
				case *ast.BasicLit:
					continue
				case *ast.Ident:
					if value.Obj != nil && value.Obj.Kind == ast.Con {
						continue
					}
				}
				t.Errorf("%s: a call is named by what is no constant", set.Position(kv.Pos()))
			}
			return true
		})
	}
	if names < 20 || names > 50 {
		t.Errorf("%d names", names)
	}
}
