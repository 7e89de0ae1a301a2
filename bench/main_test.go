package bench

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakecodex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/fakemodel/modeltest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/codextest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// program is the path of the built program.
var program string

// TestMain builds the program; started by it, with a script in the environment,
// this binary is its codex, and by a benchmark with a URL, a forwarder.
func TestMain(m *testing.M) {
	if stamps := os.Getenv(stampsEnv); stamps != "" {
		stamp(stamps)
	}
	if target := os.Getenv(forwardEnv); target != "" {
		forwardTo(target)
	}
	fakecodex.Child()
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		os.Exit(m.Run()) // the tests look at results only
	}
	os.Exit(progtest.Main(func(built string) int {
		program = built
		describe()
		return m.Run()
	}))
}

// describe adds to what go test says of the machine, in benchstat's format.
func describe() {
	fmt.Printf("cores: %d\ngo: %s\ncodex: %s\ncommit: %s\ndate: %s\n",
		runtime.NumCPU(), runtime.Version(), appserver.PinnedVersion(), codextest.Commit(), time.Now().UTC().Format(time.DateOnly))
}

// fakeSettings make the program own a codex that follows script.
func fakeSettings(b *testing.B, script string) []string {
	b.Helper()
	codex := filepath.Join(codextest.Dir(b, "codex"), "codex")
	if err := os.WriteFile(codex, []byte(fakecodex.Program(script)), 0o700); err != nil {
		b.Fatal(err)
	}
	return []string{"CODEX_BIN=" + codex, "OPENAI_API_KEY=key-of-the-benchmark"}
}

// realSettings make the program's codex ask a model that follows script.
func realSettings(b *testing.B, script fakemodel.Script) []string {
	b.Helper()
	model := modeltest.Start(b, script)
	return []string{"CODEX_BIN=" + codextest.Bin(b), "OPENAI_API_KEY=key-of-the-benchmark", "OPENAI_BASE_URL=" + model.BaseURL()}
}
