package sim_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/sim"
)

var (
	seeds = flag.Int("sim.seeds", 20, "how many `seeds` are run")
	first = flag.Uint64("sim.first", 1, "the first `seed`")
)

// TestSeeds runs seeds. One that fails is repeated by make sim SEED=… SEEDS=1.
func TestSeeds(t *testing.T) {
	for seed := *first; seed < *first+uint64(*seeds); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				if faults := sim.Seed(seed, dir); len(faults) > 0 {
					t.Errorf("make sim SEEDS=1 SEED=%d\n%s", seed, strings.Join(faults, "\n\n"))
				}
			})
		})
	}
}
