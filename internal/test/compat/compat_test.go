package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestOutcome: what fails is known to differ, or not; and what is known and passes is said.
func TestOutcome(t *testing.T) {
	line := func(action, pkg, test string) string {
		return `{"Action":"` + action + `","Package":"` + module + pkg + `","Test":"` + test + `"}` + "\n"
	}
	var o outcome
	if o.read(strings.NewReader(line("pass", "e2e", "TestTurns") + "no JSON\n" +
		line("fail", "executor/codex", "TestCutBeforeAnotherProvider/run_true") + line("fail", "executor/codex", "TestCutBeforeAnotherProvider") +
		line("fail", "e2e", "TestSteer") + line("fail", "e2e", ""))) {
		t.Error("tests that fail are taken for a package that does not build")
	}
	if o.passed != 1 || len(o.failed) != 2 {
		t.Errorf("%d passed, and %v failed", o.passed, o.failed)
	}
	differs := []difference{{tests: []string{"executor/codex.TestCutBeforeAnotherProvider"}}}
	unknown, stale := o.judge(differs)
	if !slices.Equal(unknown, []string{"e2e.TestSteer"}) || len(stale) > 0 {
		t.Errorf("of one that is known to differ: unknown %v, stale %v", unknown, stale)
	}
	unknown, _ = o.judge(nil)
	if len(unknown) != 2 {
		t.Errorf("of one that is not: unknown %v", unknown)
	}
	if _, stale = (&outcome{passed: 1}).judge(differs); !slices.Equal(stale, []string{"executor/codex.TestCutBeforeAnotherProvider"}) {
		t.Errorf("stale: %v", stale)
	}
	hangs := line("fail", "e2e", "TestSteer") + line("run", "e2e", "TestHangs") + line("fail", "e2e", "")
	if !new(outcome).read(strings.NewReader(hangs)) {
		t.Error("a package that hangs is taken for one whose tests fail")
	}
	if !new(outcome).read(strings.NewReader(line("fail", "appserver", ""))) {
		t.Error("a package that fails without a test is taken for one that passes")
	}
}

// TestDifferences are of versions that are there, and what is newer than all of them has those that have no end.
func TestDifferences(t *testing.T) {
	for _, d := range differences() {
		for _, version := range []string{d.since, d.until} {
			if version != "" && !slices.Contains(codex.Tried(), version) {
				t.Errorf("%q is of %s, which is not in the window", d.lacks, version)
			}
		}
		if d.of("9.9.9") != (d.until == "") {
			t.Errorf("%q of one that is newer than all: %t", d.lacks, d.of("9.9.9"))
		}
	}
	until := difference{until: "0.9.1"}
	for version, want := range map[string]bool{"0.9.0": true, "0.9.1": true, "0.10.0": false, "0.9.10": false} {
		if until.of(version) != want {
			t.Errorf("%s is of what is until 0.9.1: %t", version, until.of(version))
		}
	}
}

// TestPage has a row of each version of the window, of which the tests were run.
func TestPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(codextest.Root(t), "docs", "codex-versions.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range codex.Tried() {
		if !regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(version) + ` \| \d+ passed`).Match(text) {
			t.Errorf("the page does not say what came of codex %s: make compat", version)
		}
	}
}

// TestNote keeps what stands around the rows, and the rows of other versions.
func TestNote(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	all := codex.Tried()
	oldest, newest := all[0], all[len(all)-1]
	before := "# Page\n\n| codex | tests |\n|---|---|\n| " + newest + " | 5 passed | old | words |\n| 0.1.0 | no longer in the window |\n\nBehind.\n"
	if err := os.WriteFile(page, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := note(page, oldest, &outcome{passed: 7, failed: []string{"x"}}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) != 9 || !strings.HasPrefix(lines[4], "| "+newest+" | 5 passed | 1. ") || !strings.HasPrefix(lines[5], "| "+oldest+" | 7 passed, 1 show what differs | 1. ") || lines[7] != "Behind." {
		t.Errorf("the page is\n%s", text)
	}
}

// protocol is the least that can be read of a codex: nothing of it is there, but for one request.
func protocol(request string) fstest.MapFS {
	empty := &fstest.MapFile{Data: []byte(`{"oneOf":[{"properties":{"method":{"enum":["initialize"]}}}]}`)}
	return fstest.MapFS{
		"ClientRequest.json": empty, "ServerNotification.json": empty, "v2/TurnCompletedNotification.json": empty, "v2/ThreadStartParams.json": empty,
		"v2/ItemCompletedNotification.json": {Data: []byte(`{"properties":{"item":{"oneOf":[{"properties":{"type":{"enum":["plan"]}}}]}}}`)},
		"ServerRequest.json":                {Data: []byte(`{"oneOf":[{"properties":{"method":{"enum":["` + request + `"]}}}]}`)},
	}
}

func TestCompare(t *testing.T) {
	older, newer := protocol("mcpServer/elicitation/request"), protocol("item/new/ask")
	newer["v2/ItemCompletedNotification.json"] = &fstest.MapFile{Data: []byte(`{"properties":{"item":{"oneOf":[{"properties":{"type":{"enum":["plan","painting"]}}}]}}}`)}
	var said strings.Builder
	if err := compare(&said, older, newer); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n  mcpServer/elicitation/request (MCP servers cannot put questions)\n",
		"Requests of codex, new and gone:\n  +item/new/ask\n  -mcpServer/elicitation/request\n",
		"Kinds of items, new and gone:\n  +painting\n",
		"Changed, and used:\n  none\n",
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("it does not say\n%sbut\n%s", want, said.String())
		}
	}
	if got := changed(codex.Protocol{Used: map[string]string{"a: x.y": "string|null", "b: y": "string|null", "c": "1"}}, codex.Protocol{Used: map[string]string{"a: x.y": "string|object", "b: y": "string|object", "c": "1"}}); !slices.Equal(got, []string{"y: +object -null (a: x.y, and 1 more)"}) {
		t.Errorf("changed: %v", got)
	}
}
