package toolset_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/platform"
	"github.com/Molecule-AI/molecule-codex-runtime/toolset"
)

// A ledger is a log of activity.
type ledger struct {
	write func(context.Context) error

	mu   sync.Mutex // guards rows
	rows []platform.Event
}

func (l *ledger) Activity(ctx context.Context, e platform.Event) error {
	l.mu.Lock()
	l.rows = append(l.rows, e)
	l.mu.Unlock()
	if l.write != nil {
		return l.write(ctx)
	}
	return nil
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.rows)
}

func recording(t *testing.T, l *ledger) (r *toolset.Recorder, end func()) {
	redact := func(s string) string { return strings.ReplaceAll(s, "hunter2", "[REDACTED]") }
	r = toolset.NewRecorder(l, redact, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx)
	}()
	return r, func() {
		cancel()
		<-done
	}
}

func TestRecorder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		r, end := recording(t, l)
		for i := range 20 {
			r.Record(platform.Event{Method: fmt.Sprint(i), Summary: "hunter2", ErrorDetail: "x hunter2", Target: "hunter2"})
		}
		synctest.Wait()
		if n := l.count(); n > 8 {
			t.Errorf("%d rows at once", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := l.count(); n != 20 || l.rows[19].Method != "19" || l.rows[0].Summary != "[REDACTED]" || l.rows[0].ErrorDetail != "x [REDACTED]" || l.rows[0].Target != "[REDACTED]" {
			t.Errorf("%d rows: %+v", n, l.rows)
		}
		r.Record(platform.Event{Method: "last"})
		end()
		if n := l.count(); n != 21 {
			t.Errorf("%d rows at the end", n)
		}
	})
}

// TestRecorderEndsInABatch ends while a row is being written: those behind it are brought.
func TestRecorderEndsInABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rows = 20 // more than one batch
		brought := 0
		l := &ledger{}
		l.write = func(ctx context.Context) error {
			if l.count() == 1 {
				<-ctx.Done()
			}
			if ctx.Err() == nil {
				brought++
			}
			return ctx.Err()
		}
		r, end := recording(t, l)
		for range rows {
			r.Record(platform.Event{})
		}
		synctest.Wait()
		end()
		if brought != rows-1 {
			t.Errorf("%d of %d rows were brought", brought, rows-1)
		}
	})
}

// TestRecorderDoesNotBlock has a platform that answers nothing.
func TestRecorderDoesNotBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{write: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		r, end := recording(t, l)
		began := time.Now()
		for range 1000 {
			r.Record(platform.Event{})
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("recording took %s", took)
		}
		end()
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("the end took %s", took)
		}
		l.write = nil
		r, end = recording(t, l)
		for range 1000 {
			r.Record(platform.Event{})
		}
		time.Sleep(10 * time.Minute)
		end()
		if last := l.rows[len(l.rows)-1]; !strings.Contains(last.Summary, "more tool calls") {
			t.Errorf("the last row is %+v", last)
		}
	})
}
