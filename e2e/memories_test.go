package e2e

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
)

// TestNothingIsRemembered: where the operator has codex's memories on, no codex makes any of what
// was said here, in which other agents' words would have no mark.
func TestNothingIsRemembered(t *testing.T) {
	t.Parallel()
	home := codextest.Home(t)
	writeFile(t, filepath.Join(home, "config.toml"), "[features]\nmemories = true\n[memories]\ngenerate_memories = true\n")
	p := startOn(t, binary, modeltest.Start(t, fakemodel.Keywords), "CODEX_HOME="+home)
	p.send("m1", "one", "say hello")
	files, err := filepath.Glob(filepath.Join(home, "state_*.sqlite"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	db, err := sql.Open("sqlite", "file:"+files[0]+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var mode string
	if err := db.QueryRowContext(t.Context(), `SELECT memory_mode FROM threads WHERE id = ?`, threadOf(t, home)).Scan(&mode); err != nil || mode != "disabled" {
		t.Errorf("memories of the thread are %q, %v", mode, err)
	}
}
