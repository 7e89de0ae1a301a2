package doctor

import (
	"slices"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/codexfit"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fence"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
)

// TestX32IsOfTheSandbox: where nothing relies on codex's filter, no kernel is asked what it lets through.
func TestX32IsOfTheSandbox(t *testing.T) {
	for mode, want := range map[string]bool{"workspace-write": true, "read-only": true, "danger-full-access": false} {
		s := settings.Settings{CodexBin: "codex", CodexHome: codextest.Dir(t, "home"), WorkDir: codextest.Dir(t, "work"), Sandbox: mode}
		all := checks(s, nil, fence.Fence{}, scratch{}, codexfit.New(launch.Program(s, nil), ""))
		if got := slices.ContainsFunc(all, func(c preflight.Check) bool { return c.Name == "x32" }); got != want {
			t.Errorf("%s: the check is there: %t, want %t", mode, got, want)
		}
	}
}
