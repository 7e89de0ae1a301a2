package fleetsim

import (
	"fmt"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/fleet/placement"
)

// A run is one seed.
type run struct {
	seed    uint64
	weather weather
	placer  *placement.Placer
	began   time.Time
	turns   int           // that all machines can run at a time
	crowded time.Time     // when there was little room last; of the auditor
	calm    chan struct{} // closed when nothing more happens to machines, and no more turns are asked for
	rests   chan struct{} // closed when all turns have ended

	mu       sync.Mutex
	machines map[string]*machine // all that there have been
	known    map[*talk]bool      // conversations that have asked for a turn, and are not forgotten
	waiting  map[*talk]bool      // of these, those that wait for a machine
	faults   []string
	stats    Stats
}

// Stats say what has happened in a run.
type Stats struct {
	Turns, Moved, Waited, Refused, GaveUp, Deaths int
	Longest                                       time.Duration // that a turn has waited for a machine
	Uneven                                        float64       // most to least, at worst
	Looks                                         int           // at how even it was
}

// Seed makes the run of a seed, and returns what must not be. It is to be called in a bubble of testing/synctest.
func Seed(seed uint64, size Size) ([]string, Stats) {
	w, turns := weatherOf(seed, size)
	r := &run{
		seed: seed, weather: w, placer: placement.New(), began: time.Now(), turns: turns, crowded: time.Now(),
		calm: make(chan struct{}), rests: make(chan struct{}),
		machines: map[string]*machine{}, known: map[*talk]bool{}, waiting: map[*talk]bool{},
	}
	var all, auditor sync.WaitGroup
	for n := range size.Machines {
		all.Go(func() { r.station(n) })
	}
	for n := range size.Conversations {
		all.Go(func() { r.talks(n) })
	}
	auditor.Go(r.audit)
	time.Sleep(size.For)
	close(r.calm)
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(time.Hour):
		r.fault("in an hour of calm it does not come to an end: %s", r.stands())
	}
	close(r.rests)
	auditor.Wait()
	if r.isRight() {
		r.atTheEnd()
	}
	<-ended // a bubble ends with all that is in it
	return r.faults, r.stats
}

// sleep waits for a time, and reports whether the calm has not come meanwhile.
func (r *run) sleep(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return r.goesOn()
	case <-r.calm:
		return false
	}
}

func (r *run) goesOn() bool {
	select {
	case <-r.calm:
		return false
	default:
		return true
	}
}

const mostFaults = 10

func (r *run) isRight() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.faults) == 0
}

// fault notes what must not be. The caller does not hold the lock.
func (r *run) fault(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.blame(format, args...)
}

// blame is fault for callers that hold the lock.
func (r *run) blame(format string, args ...any) {
	if len(r.faults) < mostFaults {
		r.faults = append(r.faults, fmt.Sprintf("%v: %s", time.Since(r.began), fmt.Sprintf(format, args...)))
	}
}
