package e2e

import (
	"strings"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// TestRegisterIsNotLeased: no command has a lease on what leads codex to the register of its sandbox:
// codex would wait for that with each command of all.
func TestRegisterIsNotLeased(t *testing.T) {
	longtest.Mark(t)
	t.Parallel()
	p := start(t)
	p.send("m0", "one", "run true")
	for name, kind := range map[string]string{"read": "0", "write": "1"} {
		got := text(p.send("m-"+name, "one", `run perl -e 'open F,"<","$ENV{TMPDIR}/../guard/.git" or die "no file"; print fcntl(F,1024,`+kind+`) ? "leased" : "refused"'`))
		if !strings.Contains(got, "refused") {
			t.Errorf("a %s lease: %q", name, got)
		}
	}
}
