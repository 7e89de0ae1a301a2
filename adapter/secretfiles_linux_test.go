package adapter

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/asuser"
)

// TestSecretFilesOfTwoUsers: a link or hard link among the secrets, left by a command, gives
// codex nothing that its user may not read.
func TestSecretFilesOfTwoUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("this takes root")
	}
	other, err := asuser.Lookup("4242:4242")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "secrets.d")
	token := filepath.Join(filepath.Dir(dir), ".auth_token")
	put(t, token, "token of the workspace")
	if err := errJoin(os.Chmod(filepath.Dir(filepath.Dir(dir)), 0o755), os.Chmod(filepath.Dir(dir), 0o755),
		os.Mkdir(dir, 0o750), os.Chown(dir, 0, int(other.GID)), os.Chmod(token, 0o600),
		os.Symlink("../.auth_token", filepath.Join(dir, "LINK")), os.Link(token, filepath.Join(dir, "HARD"))); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "GIVEN"), "value")
	if err := errJoin(os.Chown(filepath.Join(dir, "GIVEN"), 0, int(other.GID)), os.Chmod(filepath.Join(dir, "GIVEN"), 0o640)); err != nil {
		t.Fatal(err)
	}
	vars, warnings, _ := SecretFiles(dir, other)
	if !slices.Equal(vars, []string{"GIVEN=value"}) || len(warnings) != 2 || !strings.Contains(warnings[0].Text, "let user 4242 read it") {
		t.Errorf("%q, %v", vars, warnings)
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "RUNTIME_TOKEN"), "kept")
	if err := os.Chmod(filepath.Join(dir, "RUNTIME_TOKEN"), 0o600); err != nil {
		t.Fatal(err)
	}
	vars, warnings, _ = SecretFiles(dir, other)
	if !slices.Equal(vars, []string{"GIVEN=value", "RUNTIME_TOKEN=kept"}) || len(warnings) != 2 {
		t.Errorf("what is the runtime's alone, with another user: %q, %v", vars, warnings)
	}
	if err := os.Chown(dir, int(other.UID), int(other.GID)); err != nil {
		t.Fatal(err)
	}
	if vars, _, _ := SecretFiles(dir, other); !slices.Equal(vars, []string{"GIVEN=value"}) {
		t.Errorf("in a folder of the other user: %q", vars)
	}
	if vars, warnings, err := SecretFiles(filepath.Join(dir, "none"), nil); vars != nil || warnings != nil || err != nil {
		t.Errorf("without a folder: %q, %v, %v", vars, warnings, err)
	}
}
