package fleetsim_test

import (
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/fleetsim"
)

var (
	seeds = flag.Int("sim.seeds", 10, "how many `seeds` are run")
	first = flag.Uint64("sim.first", 1, "the first `seed`")
	large = flag.Uint64("sim.large", 0, "how many of the `seeds` are of 200 machines and 5,000 conversations")
)

// TestSeeds runs seeds. One that fails is repeated by make sim-fleet SEED=… SEEDS=1, and LARGE=1 if it is a large one.
func TestSeeds(t *testing.T) {
	var found atomic.Bool
	failfast := flag.Lookup("test.failfast").Value.String() == "true"
	for seed := *first; seed < *first+uint64(*seeds); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			if failfast && found.Load() {
				t.Skip("another seed has failed")
			}
			size := fleetsim.Size{Machines: 20, Conversations: 600, For: 3 * time.Hour}
			if seed < *first+*large {
				size = fleetsim.Size{Machines: 200, Conversations: 5000, For: 2 * time.Hour}
			}
			synctest.Test(t, func(t *testing.T) {
				faults, stats := fleetsim.Seed(seed, size)
				t.Logf("%+v", stats)
				if len(faults) > 0 {
					found.Store(true)
					t.Errorf("make sim-fleet LARGE=%d SEEDS=1 SEED=%d\n%s", size.Machines/200, seed, strings.Join(faults, "\n"))
				}
			})
		})
	}
}
