package wire

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestCodesOnThePage keeps the codes of docs/errors.md as they are given.
func TestCodesOnThePage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(codextest.Root(t), "docs", "errors.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `-\\d+` \\| \\d+ `\\w+` \\| `\\w+` \\|").FindAllString(string(page), -1) {
		rows[row] = true
	}
	for _, k := range kinds {
		row := fmt.Sprintf("| `%d` | %d `%s` | `%s` |", k.code, k.status, k.name, a2a.ErrorReason(k.err))
		if !rows[row] {
			t.Errorf("docs/errors.md lacks a row that begins with %s", row)
		}
		delete(rows, row)
	}
	for row := range rows {
		t.Errorf("docs/errors.md has %s, which is never given", row)
	}
}
