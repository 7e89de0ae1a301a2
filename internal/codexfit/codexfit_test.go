package codexfit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// A stand is a codex in the place of the real one: it says a version, and of its protocol what the real one
// says, but for what edit, a script of sed, takes away. It counts how often it was asked.
type stand struct {
	bin, count string
}

func newStand(t *testing.T, version, edit string) stand {
	t.Helper()
	dir := codextest.Dir(t, "stand")
	s := stand{filepath.Join(dir, "codex"), filepath.Join(dir, "count")}
	s.is(t, version, edit)
	return s
}

// is makes it another one.
func (s stand) is(t *testing.T, version, edit string) {
	t.Helper()
	script := `#!/bin/sh
case "$*" in
--version) echo codex-cli ` + version + ` ;;
*generate-json-schema*)
	echo asked >>'` + s.count + `'
	` + codextest.Bin(t) + ` "$@" || exit
	for dir; do :; done
	sed -i '` + edit + `' "$dir"/*.json "$dir"/v2/*.json ;;
*) exit 1 ;;
esac
`
	next := s.bin + ".new"
	if err := os.WriteFile(next, []byte(script), 0o755); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	if err := os.Rename(next, s.bin); err != nil {
		t.Fatal(err)
	}
}

func (s stand) asked(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(s.count)
	if err != nil {
		return 0
	}
	return strings.Count(string(text), "asked")
}

func (s stand) fit() *Fit {
	return New(preflight.Program{Bin: s.bin, Env: os.Environ()}, "")
}

// TestVerdicts of codexes that were tried and were not, that have what is used and have not.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	untried := "0.999.0"
	for name, c := range map[string]struct {
		version, edit string
		status        preflight.Status
		words         string
		refused       bool
	}{
		"the pinned one":         {codex.Pinned(), "", preflight.OK, codex.Pinned() + " at ", false},
		"another that was tried": {codex.Tried()[0], "", preflight.OK, "which this runtime was tried with", false},
		"a newer one":            {untried, "", preflight.Warn, "was not tried with codex 0.999.0, but with " + codex.Tried()[0] + " to ", false},
		"no method":              {codex.Pinned(), "s|\"turn/steer\"|\"turn/gone\"|", preflight.Fail, "does not have what turns need: turn/steer", true},
		"no member":              {untried, "s|\"sandboxPolicy\"|\"policyOfSandbox\"|", preflight.Fail, "turn/start: sandboxPolicy", true},
		"no kind of item":        {untried, "s|\"fileChange\"|\"patch\"|", preflight.Fail, "an item of the kind fileChange", true},
		"less to show":           {codex.Pinned(), "s|\"turn/plan/updated\"|\"turn/todo/updated\"|", preflight.OK, "plans are not shown", false},
		"less, and newer":        {untried, "s|\"turn/plan/updated\"|\"turn/todo/updated\"|", preflight.Warn, "plans are not shown", false},
		"no JSON":                {untried, "s|{|[|", preflight.Warn, "does not say what it can", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newStand(t, c.version, c.edit).fit()
			r := f.Check().Do(t.Context())
			if r.Status != c.status || !strings.Contains(r.Detail, c.words) {
				t.Errorf("%s: %s", r.Status, r.Detail)
			}
			if (r.Status == preflight.OK) == strings.Contains(r.Fix, "npm install -g @openai/codex@"+codex.Pinned()) {
				t.Errorf("%s, and what to do is %q", r.Status, r.Fix)
			}
			why := f.Refusal(t.Context())
			if (why != "") != c.refused || c.refused && !strings.Contains(why, "install codex "+codex.Pinned()) {
				t.Errorf("refused for %q", why)
			}
			if f.Runs() != c.version {
				t.Errorf("%s runs", f.Runs())
			}
		})
	}
}

// TestLookedAtOnce: until there is another codex in its place.
func TestLookedAtOnce(t *testing.T) {
	t.Parallel()
	s := newStand(t, codex.Pinned(), "")
	f := s.fit()
	for range 3 {
		if why := f.Refusal(t.Context()); why != "" {
			t.Fatal(why)
		}
		f.Check().Do(t.Context())
	}
	if n := s.asked(t); n != 1 {
		t.Errorf("it was looked at %d times", n)
	}
	s.is(t, codex.Pinned(), "s|\"turn/steer\"|\"turn/gone\"|")
	if why := f.Refusal(t.Context()); !strings.Contains(why, "turn/steer") {
		t.Errorf("the one that came then is refused for %q", why)
	}
	s.is(t, codex.Pinned(), "")
	if why := f.Refusal(t.Context()); why != "" {
		t.Errorf("the third is refused for %q", why)
	}
	if n := s.asked(t); n != 3 {
		t.Errorf("they were looked at %d times", n)
	}
}

// TestNoCodex: what keeps it from starting is for the check, and refuses nothing.
func TestNoCodex(t *testing.T) {
	t.Parallel()
	f := New(preflight.Program{Bin: filepath.Join(t.TempDir(), "codex")}, "")
	if r := f.Check().Do(t.Context()); r.Status != preflight.Fail || r.Fix != Install() {
		t.Errorf("%+v", r)
	}
	if why := f.Refusal(t.Context()); why != "" || f.Runs() != "" {
		t.Errorf("%q, and %s runs", why, f.Runs())
	}
}

// TestNothingIsLeft of a look.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	f := New(preflight.Program{Bin: newStand(t, codex.Pinned(), "").bin, Env: os.Environ()}, temp)
	if why := f.Refusal(t.Context()); why != "" {
		t.Fatal(why)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
