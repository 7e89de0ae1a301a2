package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mostOfTheWalk is how many files a message's way may take to read.
const mostOfTheWalk = 25

// TestWalkOfAMessage: ARCHITECTURE.md leads along a message in few files, and they exist.
func TestWalkOfAMessage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, walk, _ := strings.Cut(string(text), "## How a message runs\n")
	walk, _, _ = strings.Cut(walk, "\n## ")
	folder, files := "", []string{}
	for _, m := range regexp.MustCompile("`([a-z0-9_/]+\\.go)`").FindAllStringSubmatch(walk, -1) {
		file := m[1]
		if strings.Contains(file, "/") {
			folder = filepath.Dir(file)
		} else if file != "doc.go" { // of the folder that was named last
			file = filepath.Join(folder, file)
		}
		if file == "doc.go" || slices.Contains(files, file) {
			continue
		}
		files = append(files, file)
		if _, err := os.Stat(filepath.Join("..", "..", file)); err != nil {
			t.Error(err)
		}
	}
	if len(files) < 10 || len(files) > mostOfTheWalk {
		t.Errorf("the walk has %d files, and may have %d: %v", len(files), mostOfTheWalk, files)
	}
}

// TestFuzzTargets: make fuzz has each target, where it is.
func TestFuzzTargets(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for _, m := range regexp.MustCompile(`-fuzz (Fuzz\w+) -fuzztime \w+ \./(\S+)`).FindAllStringSubmatch(string(text), -1) {
		lines[m[2]+" "+m[1]] = true
	}
	target := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	for _, pkg := range packages(t) {
		dir := strings.TrimPrefix(pkg.ImportPath, module)
		tests, err := filepath.Glob(filepath.Join("..", "..", dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range tests {
			body, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range target.FindAllStringSubmatch(string(body), -1) {
				if name := dir + " " + m[1]; !lines[name] {
					t.Errorf("make fuzz does not have %s", name)
				}
				delete(lines, dir+" "+m[1])
			}
		}
	}
	for name := range lines {
		t.Errorf("make fuzz has %s, which does not exist", name)
	}
}
