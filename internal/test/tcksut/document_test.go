package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/testnames"
)

// A document is docs/conformance.md and what it is checked against.
type document struct {
	text     string
	rows     []row
	held     map[string]string          // the test of this package that holds a requirement
	recorded map[string]bool            // the tests of the suite that TestSuiteBodies has requests of
	sources  map[string]testnames.Tests // by the names that the document gives packages
}

// A row is one of a table: a requirement, and the document's last word on it.
type row struct {
	table, id, there, says string // there is the suite's own word: a level, or an outcome
}

func readDocument(t *testing.T) document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	d := document{text: string(text), sources: map[string]testnames.Tests{
		"tcksut": testnames.Of(t, "internal/test/tcksut"), "server": testnames.Of(t, "server"), "tasks": testnames.Of(t, "tasks"),
		"adapter": testnames.Of(t, "adapter"),
	}}
	d.recorded = map[string]bool{}
	for _, version := range []string{"0.3", "1.0"} {
		for _, r := range readRequests(t, filepath.Join("testdata", "suite-"+version+".jsonl")) {
			name, _, _ := strings.Cut(r.Test, "[")
			d.recorded[version+"/"+name] = true
		}
	}
	table := ""
	for line := range strings.Lines(d.text) {
		if heading, ok := strings.CutPrefix(line, "#"); ok {
			table = strings.Trim(heading, "# \n")
		}
		cells := strings.Split(line, "|")
		if len(cells) >= 4 && strings.Contains(cells[1], "`") {
			d.rows = append(d.rows, row{table, strings.Trim(cells[1], " `"), strings.TrimSpace(cells[2]), strings.TrimSpace(cells[len(cells)-2])})
		}
	}
	return d
}
