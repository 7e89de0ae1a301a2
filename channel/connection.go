package channel

import (
	"context"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/deliver"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

// curve is that of all that is tried again with a platform.
func curve() deliver.Curve { return deliver.Curve{Longest: time.Minute} }

// A connection is whether a platform answers. The poller finds out.
type connection struct {
	doubt chan struct{} // asks for a poll now; has room for one

	mu       sync.Mutex // guards the fields below
	failures int        // of polls in a row
	down     bool
	left     bool // for good
}

func newConnection() *connection { return &connection{doubt: make(chan struct{}, 1)} }

// failed notes that a poll has failed, and says how long to wait for the next.
func (c *connection) failed(err error) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = true
	c.failures++
	return pause(c.failures-1, err)
}

// suspect holds replies back until a poll has succeeded: one of them has had no answer.
func (c *connection) suspect() {
	c.mu.Lock()
	c.down = true
	c.mu.Unlock()
	poke(c.doubt)
}

// up notes that a poll has succeeded, and reports whether the one before had not.
func (c *connection) up() (again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	again, c.down = c.down, false
	c.failures = 0
	return again
}

func (c *connection) isUp() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.down && !c.left
}

// await waits until the platform answers, and reports whether it does; if not, it is left
// or ctx has ended.
func (c *connection) await(ctx context.Context) bool {
	for !c.isUp() {
		if c.isLeft() || !sleep.For(ctx, time.Second) {
			return false
		}
	}
	return ctx.Err() == nil
}

// leave has it be down for good.
func (c *connection) leave() {
	c.mu.Lock()
	c.left = true
	c.mu.Unlock()
	poke(c.doubt)
}

func (c *connection) isLeft() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.left
}

// pause is how long to wait after so many failures of one thing and one more, or what the
// platform asks for.
func pause(failures int, err error) time.Duration {
	if asked, _ := platform.Again(err); asked > 0 {
		return min(asked, deliver.LongestAsked)
	}
	return curve().After(failures, 0)
}
