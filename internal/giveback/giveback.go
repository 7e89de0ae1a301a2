// Package giveback gives memory that this process does not need any more back to the system.
package giveback

import (
	"context"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// giveBackEvery is how often it is looked whether there is memory to give back.
	giveBackEvery = 10 * time.Second
	// worthGiving is what is given back at the least: it costs a collection, and room that
	// the next turn may need.
	worthGiving = 32 << 20
	// restLooks are left out after memory was given back.
	restLooks = 5
)

// Run gives memory that is not used any more back to the system, when due says so: by
// itself Go takes minutes for that. It returns when ctx ends.
func Run(ctx context.Context, due func() bool) {
	tick := time.NewTicker(giveBackEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if due() {
			debug.FreeOSMemory()
		}
	}
}

// A Watch knows when much memory was let go of.
type Watch struct {
	Held func() int64                  // bytes of messages whose turns have not ended
	Heap func() (resident, live int64) // live is of the last collection

	most, before int64 // held since memory was given back last, and resident at the look before
	rest         int   // looks to leave out
}

// Due reports whether messages have gone that took much, or whether the heap takes much
// more than was alive in it, and has not grown since the look before.
func (w *Watch) Due() bool {
	held := w.Held()
	resident, live := w.Heap()
	quiet := resident <= w.before
	w.most, w.before = max(w.most, held), resident
	if w.rest--; w.rest >= 0 || w.most-held < worthGiving && (!quiet || resident-live < worthGiving) {
		return false
	}
	w.most, w.rest = held, restLooks
	return true
}

// Heap reads how much of the heap is in memory, and what was alive in it.
func Heap() (resident, live int64) {
	const classes = "/memory/classes/heap/"
	samples := []metrics.Sample{{Name: classes + "objects:bytes"}, {Name: classes + "unused:bytes"}, {Name: classes + "free:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	for _, s := range samples[:3] {
		resident += int64(s.Value.Uint64())
	}
	return resident, int64(samples[3].Value.Uint64())
}
