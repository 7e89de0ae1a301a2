package preflight

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// expect fails the test unless r has the status and its words, and says what
// to do exactly when something is to be done.
func expect(t *testing.T, r Result, status Status, detail, fix string) {
	t.Helper()
	if r.Status != status || !strings.Contains(r.Detail, detail) || !strings.Contains(r.Fix, fix) {
		t.Errorf("got %+v, want %s with %q and %q", r, status, detail, fix)
	}
	if (r.Status == OK) != (r.Fix == "") {
		t.Errorf("%s with the fix %q", r.Status, r.Fix)
	}
}

// file writes a file with the given mode and returns its path.
func file(t *testing.T, dir, name, text string, mode os.FileMode) string {
	t.Helper()
	p := filepath.Join(dir, name)
	if err := os.WriteFile(p, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(p, mode); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOneFailingCheckStopsNoOther(t *testing.T) {
	meet := make(chan struct{})
	wait := func(ctx context.Context) Result {
		select { // both get here only if both run at the same time
		case meet <- struct{}{}:
		case <-meet:
		case <-ctx.Done():
			return fail("alone", "run checks at the same time")
		}
		return ok("met")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := Run(ctx,
		Check{"bad", func(context.Context) Result { return fail("broken", "mend it") }},
		Check{"one", wait}, Check{"two", wait})
	expect(t, r.Results[0], Fail, "broken", "mend it")
	expect(t, r.Results[1], OK, "met", "")
	expect(t, r.Results[2], OK, "met", "")
	if r.OK() || r.Results[2].Name != "two" {
		t.Errorf("report %+v", r)
	}
}

func TestReportForPrograms(t *testing.T) {
	r := Report{Results: []Result{{Name: "a", Status: OK, Detail: "d", Took: 1500 * time.Microsecond}, {Name: "b", Status: Warn, Detail: "e", Fix: "f"}}}
	got, err := json.Marshal(r)
	want := `{"ok":true,"checks":[{"name":"a","status":"ok","detail":"d","tookMs":1.5},{"name":"b","status":"warn","detail":"e","fix":"f","tookMs":0}]}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func TestReportForPeople(t *testing.T) {
	r := Report{Results: []Result{{Name: "a", Status: OK, Detail: "fine"}, {Name: "long", Status: Fail, Detail: "broken", Fix: "mend it"}}}
	var b bytes.Buffer
	if err := r.WriteHuman(&b, false); err != nil {
		t.Fatal(err)
	}
	want := "✓ a     fine\n✗ long  broken\n        → mend it\n\nA turn would not run: 1 check failed.\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	r = Report{For: "mcp", Subject: "The server", Why: "two variables are set", Results: r.Results[:1]}
	want = "For runtime mcp: two variables are set. --for says otherwise.\n\n✓ a  fine\n\nThe server would run.\n"
	if err := r.WriteHuman(&b, false); err != nil || b.String() != want {
		t.Errorf("got\n%s\nwant\n%s%v", b.String(), want, err)
	}
	b.Reset()
	r = Report{Results: []Result{{Name: "a", Status: Fail}}}
	if err := r.WriteHuman(&b, true); err != nil || !strings.Contains(b.String(), "\x1b[31m✗\x1b[0m") {
		t.Errorf("no colour: %q, %v", b.String(), err)
	}
}
