package sim_test

import (
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/sim"
)

var (
	seeds = flag.Int("sim.seeds", 20, "how many `seeds` are run")
	first = flag.Uint64("sim.first", 1, "the first `seed`")
)

// TestSeeds runs seeds. One that fails is repeated by make sim SEED=… SEEDS=1. With -failfast it is the last that
// begins: those that wait to run in parallel would run all the same.
func TestSeeds(t *testing.T) {
	var found atomic.Bool
	failfast := flag.Lookup("test.failfast").Value.String() == "true"
	for seed := *first; seed < *first+uint64(*seeds); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			if failfast && found.Load() {
				t.Skip("another seed has failed")
			}
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				if faults := sim.Seed(seed, dir); len(faults) > 0 {
					found.Store(true)
					t.Errorf("make sim SEEDS=1 SEED=%d\n%s", seed, strings.Join(faults, "\n\n"))
				}
			})
		})
	}
}
