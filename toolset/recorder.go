package toolset

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// The pace at which rows are written. The platform takes 600 requests a minute of an
// address, and most of them are for what cannot wait.
const (
	mostRows    = 256             // that wait
	rowsEvery   = 2 * time.Second // between two batches
	rowsAtOnce  = 8
	rowTimeout  = 10 * time.Second
	leaveWithin = 2 * time.Second // what is left at the end gets that long
)

// An ActivityLog is where rows are written.
type ActivityLog interface {
	Activity(ctx context.Context, e platform.Event) error
}

// A Recorder brings rows to the log of activity, behind the back of whoever has them:
// a full queue, or a platform that is slow or away, costs rows and nothing else. Create
// it with [NewRecorder]; [Recorder.Run] writes.
type Recorder struct {
	log    ActivityLog
	redact func(string) string
	logger *slog.Logger
	wake   chan struct{} // 1-buffered: there are rows

	mu      sync.Mutex // guards the fields below
	rows    []platform.Event
	dropped int // rows that there was no room for
}

// NewRecorder returns a recorder. Every text of a row goes through redact; what stands in
// its bodies has to be redacted by those who make them.
func NewRecorder(log ActivityLog, redact func(string) string, logger *slog.Logger) *Recorder {
	return &Recorder{log: log, redact: redact, logger: logger, wake: make(chan struct{}, 1)}
}

// Record takes a row. It does not block.
func (r *Recorder) Record(e platform.Event) {
	r.mu.Lock()
	full := len(r.rows) >= mostRows
	if full {
		r.dropped++
	} else {
		r.rows = append(r.rows, e)
	}
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run writes rows until ctx ends, and then, for a moment, what is left.
func (r *Recorder) Run(ctx context.Context) {
	for {
		select {
		case <-r.wake:
			for r.batch(ctx) && sleep.For(ctx, rowsEvery) {
			}
		case <-ctx.Done():
			leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
			defer cancel()
			for r.batch(leaving) {
			}
			return
		}
	}
}

// batch writes some rows while ctx goes on, and reports whether there may be more. One
// that the platform does not take is not offered again: it may have been taken.
func (r *Recorder) batch(ctx context.Context) (more bool) {
	for range rowsAtOnce {
		if ctx.Err() != nil {
			return false
		}
		row, ok := r.take()
		if !ok {
			return more
		}
		more = true
		limited, cancel := context.WithTimeout(ctx, rowTimeout)
		err := r.log.Activity(limited, r.redacted(row))
		cancel()
		if err != nil {
			r.logger.Debug("a row of activity was not written", "method", row.Method, "err", err)
		}
	}
	return more
}

// take takes the oldest row off the queue. The last one says how many there was no room for.
func (r *Recorder) take() (row platform.Event, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.rows) > 0 {
		row, r.rows = r.rows[0], r.rows[1:]
		return row, true
	}
	r.rows = nil
	if r.dropped == 0 {
		return row, false
	}
	row = platform.Event{
		Type: "agent_log", Method: "runtime", Status: "ok",
		Summary: fmt.Sprintf("%d more tool calls, too many at once to be listed", r.dropped),
	}
	r.dropped = 0
	return row, true
}

// redacted is a row as others may see it.
func (r *Recorder) redacted(e platform.Event) platform.Event {
	e.Summary, e.ErrorDetail, e.Target = r.redact(e.Summary), r.redact(e.ErrorDetail), r.redact(e.Target)
	return e
}
