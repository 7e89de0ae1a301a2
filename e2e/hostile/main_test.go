package hostile

import (
	"flag"
	"os"
	"testing"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/fake/fakecodex"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/progtest"
)

// allFlag is what make hostile sets.
var allFlag = flag.Bool("all", false, "all rows, and not only those that fit into a minute")

var binary string

func TestMain(m *testing.M) {
	fakecodex.Child()
	flag.Parse()
	os.Exit(progtest.Main(func(built string) int {
		binary = built
		return leaktest.Run(m)
	}))
}

// some is every nth of the rows, or all of them where that is asked for.
func some[T any](rows []T, nth int) []T {
	if *allFlag {
		return rows
	}
	var out []T
	for i := 0; i < len(rows); i += nth {
		out = append(out, rows[i])
	}
	return out
}
