package adapter

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/leasetest"
)

// TestHeldSecretFile: a command that holds a file of secrets is not to choose what codex is
// started without.
func TestHeldSecretFile(t *testing.T) {
	s, dir, _, _, _ := workspace(t, "OPENAI_API_KEY=sk-key")
	put(t, filepath.Join(dir, "config.yaml"), "name: Ada\n")
	file := filepath.Join(dir, "secrets.d", "OPENAI_BASE_URL")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, file, "http://model.example/v1")
	put(t, filepath.Join(dir, "secrets.d", "OTHER"), "value")
	letGo := leasetest.Hold(t, file)
	if vars, warnings, err := SecretFiles(filepath.Dir(file), nil); !slices.Equal(vars, []string{"OTHER=value"}) || warnings != nil || err == nil {
		t.Errorf("the files: %q, %v, %v", vars, warnings, err)
	}
	_, err := s.Prepare(t.Context())
	if problem, ok := errors.AsType[*Problem](err); !ok || !strings.Contains(problem.Error(), "end the process that has a lease on "+file) {
		t.Errorf("while it is held: %v", err)
	}
	if s.Problem() == "" {
		t.Error("it is not said that codex cannot be started")
	}
	if _, _, _, err := Look(s.cfg); err == nil {
		t.Error("checks do not see it")
	}
	letGo()
	launch, err := s.Prepare(t.Context())
	if err != nil || !slices.Contains(launch.Environ, "OPENAI_BASE_URL=http://model.example/v1") || s.Problem() != "" {
		t.Errorf("afterwards: %q, %v", launch.Environ, err)
	}
}
