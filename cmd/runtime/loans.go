package main

import (
	"fmt"
	"hash/fnv"
	"path/filepath"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/files"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// openLoans makes what lends codex copies of pictures. They stand in codex's home, which
// codex can read, as whatever user, and commands do not write in the sandbox. Other
// programs may have the same home, and the state directory is this one's alone.
func (app *application) openLoans(s settings.Settings) {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(s.StateDir))
	loans, err := files.NewLoans(filepath.Join(s.CodexHome, fmt.Sprintf("molecule-pictures-%08x", sum.Sum32())), s.User, roomIn(s.CodexHome))
	if err != nil {
		app.log.Warn("copies of pictures that an earlier life has left in CODEX_HOME stay there", "err", err)
	}
	app.loans, app.closers = loans, append(app.closers, loans)
}
