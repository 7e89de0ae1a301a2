package launch_test

import (
	"slices"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/launch"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/settings"
)

// TestMachineEnv: commands of a machine have its environment, without what opens it, or a model.
func TestMachineEnv(t *testing.T) {
	got := launch.MachineEnv(settings.Settings{}, []string{
		"PATH=/bin", "GH_TOKEN=theirs", "RUNTIME_MACHINE_TOKEN=x", "RUNTIME_ANYTHING=x", "OPENAI_API_KEY=x", "MOLECULE_WORKSPACE_TOKEN=x", "CODEX_HOME=/x", "CODEX_BIN=/x",
	})
	if want := []string{"PATH=/bin", "GH_TOKEN=theirs"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
