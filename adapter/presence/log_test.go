package presence_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/adapter/presence"
)

// TestOutageIsLoggedSparingly: the first three heartbeats that are not taken, then each
// tenth, and again from the start after one that was.
func TestOutageIsLoggedSparingly(t *testing.T) {
	d := &double{heartbeat: func(n int) error {
		if n == 62 {
			return nil
		}
		return errUnreachable
	}}
	var log counter
	within(t, d, func(c *presence.Config) { c.Logger = slog.New(&log) }, func(t *testing.T, b *bench) {
		after(30*time.Minute + time.Second) // 61 beats
		if n := log.count("the platform did not take a heartbeat"); n != 9 {
			t.Errorf("logged %d times for %d beats", n, len(d.all()))
		}
		after(2 * time.Minute)
		if n := log.count("the platform did not take a heartbeat"); n != 12 {
			t.Errorf("logged %d times in all", n)
		}
	})
}

// A counter counts log messages.
type counter struct {
	mu   sync.Mutex
	seen map[string]int
}

func (c *counter) count(message string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[message]
}

func (*counter) Enabled(context.Context, slog.Level) bool { return true }

func (c *counter) Handle(_ context.Context, r slog.Record) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	c.seen[r.Message]++
	return nil
}

func (c *counter) WithAttrs([]slog.Attr) slog.Handler { return c }

func (c *counter) WithGroup(string) slog.Handler { return c }
