package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/Molecule-AI/molecule-codex-runtime/executor/codex"
)

// row is a row of the page, of one version.
var row = regexp.MustCompile(`(?m)^\| ([0-9.]+) \| ([^|]*) \|.*\n`)

// note writes what came of a version into the page, in the place of what came before.
func note(page, version string, o *outcome) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	came := map[string]string{}
	for _, match := range row.FindAllStringSubmatch(string(text), -1) {
		came[match[1]] = match[2]
	}
	came[version] = o.count()
	var all strings.Builder
	for _, version := range slices.Backward(codex.Tried()) {
		if came[version] != "" {
			all.WriteString(line(version, came[version]))
		}
	}
	at := row.FindAllStringIndex(string(text), -1)
	if len(at) == 0 {
		return fmt.Errorf("%s has no row of a version", page)
	}
	// What stands before the first row and behind the last one is written by people.
	return os.WriteFile(page, []byte(string(text[:at[0][0]])+all.String()+string(text[at[len(at)-1][1]:])), 0o644)
}

// differencesOf are those of a version.
func differencesOf(version string) (all []difference) {
	for _, d := range differences() {
		if d.of(version) {
			all = append(all, d)
		}
	}
	return all
}

// known says which tests fail on a version, for those who move the pin to it: there they fail the build.
func known(to io.Writer, version string) {
	var lines []string
	for _, d := range differencesOf(version) {
		for _, test := range d.tests {
			lines = append(lines, test+": this codex "+d.lacks)
		}
	}
	section(to, "Tests that have to be taught", lines)
}

// count says what came of the tests.
func (o *outcome) count() string {
	if len(o.failed) > 0 {
		return fmt.Sprintf("%d passed, %d show what differs", o.passed, len(o.failed))
	}
	return fmt.Sprintf("%d passed", o.passed)
}

// line is the row of a version, of whose tests that came.
func line(version, came string) string {
	var lacks, does []string
	for _, d := range differencesOf(version) {
		lacks, does = append(lacks, d.lacks), append(does, d.does)
	}
	numbered := func(all []string) string {
		for i := range all {
			all[i] = fmt.Sprintf("%d. %s", i+1, all[i])
		}
		return cmp.Or(strings.Join(all, "<br>"), "–")
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", version, came, numbered(lacks), numbered(does))
}
