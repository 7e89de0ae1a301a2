package settings

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/settings.md anew")

func TestDocumentIsInStep(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "settings.md")
	if *update {
		if err := os.WriteFile(path, []byte(Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != Markdown() {
		t.Errorf("docs/settings.md differs from the table (%v): run go test ./internal/settings -update", err)
	}
}

func TestTableIsWhole(t *testing.T) {
	seen := make(map[string]bool)
	for _, name := range reserved() {
		seen[name] = true
	}
	for _, r := range Rows() {
		if r.Group == "" || !strings.HasSuffix(r.Help, ".") || strings.Contains(r.Help+r.Default, "|") {
			t.Errorf("%s: every row has a group and an explanation that is a sentence", r.Name)
		}
		if seen[r.Name] {
			t.Errorf("%s stands twice", r.Name)
		}
		seen[r.Name] = true
	}
}

func TestHelpFitsTheTerminal(t *testing.T) {
	help := Help(72)
	for line := range strings.Lines(help) {
		if len(line) > 73 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	for _, r := range Rows() {
		if !strings.Contains(help, "    "+r.Name+"\n") {
			t.Errorf("%s is missing", r.Name)
		}
	}
}
