package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tables are those of docs/conformance.md: how many requirements the suite has
// there, and how many of them have a reason in the place of a test. Whoever adds
// a test or takes one away says so here.
func tables() map[string]tally {
	return map[string]tally{
		"1.0, branch 1.0-dev, JSON-RPC and HTTP+JSON": {rows: 129, reasons: 22},
		"0.3, mandatory, JSON-RPC":                    {rows: 96, reasons: 49},
		"0.3, capabilities, JSON-RPC":                 {rows: 74, reasons: 39},
	}
}

type tally struct{ rows, reasons int }

// held returns which of our tests holds a requirement, by its id.
func held(t *testing.T) map[string]string {
	t.Helper()
	byID := map[string]string{}
	hold := func(test, id string) {
		if other := byID[id]; other != "" {
			t.Errorf("%s is held by %s and again by %s", id, other, test)
		}
		byID[id] = test
	}
	for _, r := range v1() {
		hold("TestV1", r.id)
	}
	for _, r := range capabilities() {
		hold("TestCapabilities", r.id)
	}
	for _, r := range allV0() {
		hold("TestV0", r.id)
	}
	for _, r := range pushes() {
		hold("TestPush", r.id)
	}
	for _, r := range v0Pushes() {
		hold("TestV0Push", r.id)
	}
	for _, id := range []string{"INPUT-REQUIRED", "SEND-WITH-PUSH", "STREAM-WITH-PUSH"} {
		delete(byID, id) // is not the suite's
	}
	return byID
}

// TestConformanceDocument keeps docs/conformance.md true: a requirement that a
// test of this package holds names that test and no other of this package, all
// other tests that are named exist, and what has no test has a reason.
func TestConformanceDocument(t *testing.T) {
	d := readDocument(t)
	d.held = held(t)
	got := map[string]tally{}
	for i, r := range d.rows {
		if slices.ContainsFunc(d.rows[:i], func(other row) bool { return other.table == r.table && other.id == r.id }) {
			t.Errorf("%s stands twice in %q", r.id, r.table)
		}
		n := got[r.table]
		n.rows++
		if !d.checkTests(t, r) {
			n.reasons++
			d.checkReason(t, r)
		}
		got[r.table] = n
	}
	for id, test := range d.held {
		if !slices.ContainsFunc(d.rows, func(r row) bool { return r.id == id }) {
			t.Errorf("%s holds %s, which stands in no table", test, id)
		}
	}
	for name, want := range tables() {
		if got[name] != want {
			t.Errorf("%q has %+v, want %+v", name, got[name], want)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("the table %q is not known here", name)
	}
}

// TestSuiteIsWhole: the tables have what the suite has, no more and no less, and what
// became of it when the suite was run.
func TestSuiteIsWhole(t *testing.T) {
	d := readDocument(t)
	got, asked := map[string]bool{}, map[string]bool{}
	for _, r := range d.rows {
		table, _, _ := strings.Cut(strings.TrimPrefix(r.table, "0.3, "), ",")
		got[strings.Join([]string{table, r.id, r.there}, " ")] = true
		asked[r.id] = true
	}
	for file, table := range map[string]string{"suite-0.3.tests": "", "suite-1.0.requirements": "1.0 "} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			want := table + strings.TrimSpace(line)
			if !got[want] {
				t.Errorf("docs/conformance.md has no row that says %q", want)
			}
			delete(got, want)
		}
	}
	for row := range got {
		t.Errorf("docs/conformance.md says %q, which the suite does not", row)
	}
	for test := range d.recorded {
		if version, name, _ := strings.Cut(test, "/"); version == "0.3" && !asked[name] {
			t.Errorf("%s has requests and no row", test)
		}
	}
}

var (
	named   = regexp.MustCompile("`([a-z]+)\\.(Test\\w+)(?:/([^`]+))?`")
	sameAs  = regexp.MustCompile("^As `?([\\w-]+)`?\\.$")
	skipped = regexp.MustCompile(`^Skipped: (.+)\.$`)
	because = regexp.MustCompile(`^\S+( \S+){3,}\.$`)
)

// checkTests checks the tests that a row names and reports whether there are any.
func (d document) checkTests(t *testing.T, r row) bool {
	t.Helper()
	tests := named.FindAllStringSubmatch(r.says, -1)
	holder, ours := d.held[r.id], false
	for _, m := range tests {
		pkg, test, sub := m[1], m[2], m[3]
		switch {
		case pkg == "tcksut" && test == "TestSuiteBodies" && sub != "":
			if !d.recorded[sub] {
				t.Errorf("%s names %s, of which no request is recorded", r.id, m[0])
			}
		case pkg != "tcksut" || sub == "":
			if !d.sources[pkg].Has(test, sub) {
				t.Errorf("%s names %s, which does not exist", r.id, m[0])
			}
		case d.held[sub] != test:
			t.Errorf("%s names %s, which does not exist: %q is held by %q", r.id, m[0], sub, d.held[sub])
		case sub == r.id:
			ours = true
		case holder != "":
			t.Errorf("%s names %s, which is another's", r.id, m[0])
		}
	}
	if holder != "" && !ours {
		t.Errorf("%s does not name `tcksut.%s/%s` but says %q", r.id, holder, r.id, r.says)
	}
	return len(tests) > 0
}

// checkReason checks a row without tests: it has a sentence of its own, or names
// the row of its table that has, or one of the reasons that stand above the table.
func (d document) checkReason(t *testing.T, r row) {
	t.Helper()
	if m := sameAs.FindStringSubmatch(r.says); m != nil {
		if !slices.ContainsFunc(d.rows, func(other row) bool {
			return other.table == r.table && other.id == m[1] && !sameAs.MatchString(other.says)
		}) {
			t.Errorf("%s is as %s, which is no row with a reason", r.id, m[1])
		}
		return
	}
	if m := skipped.FindStringSubmatch(r.says); m != nil {
		if !strings.Contains(d.text, "\n- **"+m[1]+"**: ") {
			t.Errorf("%s is skipped for the reason %q, which is not given", r.id, m[1])
		}
		return
	}
	if !because.MatchString(r.says) {
		t.Errorf("%s has neither test nor reason: %q", r.id, r.says)
	}
}
