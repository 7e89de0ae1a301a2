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

// A stand is a codex in the place of the real one.
type stand struct{ bin string }

func newStand(t *testing.T, version, edit string) stand {
	t.Helper()
	s := stand{filepath.Join(codextest.Dir(t, "stand"), "codex")}
	codextest.StandIn(t, s.bin, version, edit)
	return s
}

// asked is how often it was asked what it can.
func (s stand) asked() int {
	text, err := os.ReadFile(s.bin + ".asked")
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
		"a newer one":            {untried, "", preflight.Warn, "was tried with codex " + codex.Tried()[0] + " to ", false},
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
			v := f.Verdict(t.Context())
			if (v.Note != "") != (c.version == untried) || v.Version != c.version {
				t.Errorf("the note of %s is %q", v.Version, v.Note)
			}
			why := v.Unfit
			if (why != "") != c.refused || c.refused && !strings.Contains(why, "install codex "+codex.Pinned()) {
				t.Errorf("refused for %q", why)
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
		if why := f.Verdict(t.Context()).Unfit; why != "" {
			t.Fatal(why)
		}
		f.Check().Do(t.Context())
	}
	if n := s.asked(); n != 1 {
		t.Errorf("it was looked at %d times", n)
	}
	codextest.StandIn(t, s.bin, codex.Pinned(), "s|\"turn/steer\"|\"turn/gone\"|")
	if why := f.Verdict(t.Context()).Unfit; !strings.Contains(why, "turn/steer") {
		t.Errorf("the one that came then is refused for %q", why)
	}
	codextest.StandIn(t, s.bin, codex.Pinned(), "")
	if why := f.Verdict(t.Context()).Unfit; why != "" {
		t.Errorf("the third is refused for %q", why)
	}
	if n := s.asked(); n != 3 {
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
	if v := f.Verdict(t.Context()); v != (codex.Verdict{}) {
		t.Errorf("%+v", v)
	}
}

// TestNothingIsLeft of a look.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	f := New(preflight.Program{Bin: newStand(t, codex.Pinned(), "").bin, Env: os.Environ()}, temp)
	if why := f.Verdict(t.Context()).Unfit; why != "" {
		t.Fatal(why)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
