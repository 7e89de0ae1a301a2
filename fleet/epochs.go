package fleet

import (
	"context"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// epochs number the times for which machines work for us. A machine that hears a later one ends what it has running of
// those before: so each is later than all that were said, by the processes before this one and where the clock has gone
// back, too.
type epochs struct {
	journal Journal

	mu    sync.Mutex // guards the fields below
	first int64      // of this process
	fresh int64      // that machines are asked in at first: two ways to one machine then are of one time
	last  int64      // nanoseconds since 1970, unless the clock was behind
	kept  int64
}

// openEpochs goes on behind what processes before have said. What a clock has made that was far ahead is forgotten: machines
// have refused that.
func openEpochs(ctx context.Context, journal Journal) (*epochs, error) {
	kept, err := journal.Epoch(ctx)
	if time.Until(time.Unix(0, kept)) > wire.MostAhead {
		kept = 0
	}
	e := &epochs{journal: journal, last: kept, kept: kept}
	e.first = e.begin()
	return e, err
}

// begin has machines be asked in another epoch at first, which is returned.
func (e *epochs) begin() int64 {
	epoch := e.next()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fresh = epoch
	return epoch
}

// atFirst is the epoch in which a machine is asked at first.
func (e *epochs) atFirst() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.fresh
}

// isOurs reports whether an epoch is of this process.
func (e *epochs) isOurs(epoch int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return epoch >= e.first && epoch <= e.last
}

// next is an epoch that is later than all before.
func (e *epochs) next() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last = max(e.last+1, time.Now().UnixNano())
	return e.last
}

// keep has later processes go on behind an epoch. That is done before a machine is asked for a watch in it.
func (e *epochs) keep(ctx context.Context, epoch int64) error {
	e.mu.Lock()
	known := epoch <= e.kept
	e.mu.Unlock()
	if known {
		return nil
	}
	if err := e.journal.RecordEpoch(ctx, epoch); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.kept = max(e.kept, epoch)
	return nil
}
