package readiness

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
)

// How long the answer of the checks is believed. They start codex twice, which
// is too much for every probe; a no is looked at again soon.
const (
	yesLasts    = time.Minute
	noLasts     = 3 * time.Second
	checksLimit = 30 * time.Second
)

// ChecksConfig says what is checked.
type ChecksConfig struct {
	Checks []preflight.Check
	State  preflight.Check // made at each look, for it costs nothing and a disk fills up any time; it may be none
	Mend   func()          // puts right what can be, before the checks are made; nil mends nothing
}

// Checks makes the checks again when their answer is old. All who ask share one run, and none of them can cut it
// short. Close waits for it.
type Checks struct {
	ChecksConfig
	wg sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	changed []func()   // called when the checks have been made
	report  preflight.Report
	until   time.Time
	running chan struct{} // closed at the end of the run under way; nil without one
}

// NewChecks returns the checks of cfg. They are made when they are asked for.
func NewChecks(cfg ChecksConfig) *Checks { return &Checks{ChecksConfig: cfg} }

// OnMade has changed called each time that the checks have been made. It must not call the checks.
func (c *Checks) OnMade(changed func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed = append(c.changed, changed)
}

// Announce makes the checks once at the start and logs those that did not pass.
func (c *Checks) Announce(ctx context.Context, log *slog.Logger) {
	for _, result := range c.Made(ctx).Results {
		if ctx.Err() != nil || result.Status == preflight.OK {
			continue
		}
		log.Warn("a check did not pass", "check", result.Name, "status", result.Status, "detail", result.Detail, "fix", result.Fix)
	}
}

// Made returns what the checks found, at most as old as it may be. When ctx
// ends first, that is what they found last time; nothing, if they never ran.
func (c *Checks) Made(ctx context.Context) preflight.Report {
	c.mu.Lock()
	c.renewLocked()
	running := c.running
	c.mu.Unlock()
	if running != nil {
		select {
		case <-running:
		case <-ctx.Done():
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.currentLocked()
}

// Known returns what the checks found last, and does not wait: what is old is looked at
// again meanwhile.
func (c *Checks) Known() preflight.Report {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.renewLocked()
	return c.currentLocked()
}

// currentLocked is what the checks found last, and how the state is now; nothing, if they
// never ran.
func (c *Checks) currentLocked() preflight.Report {
	if len(c.report.Results) == 0 || c.State.Run == nil {
		return c.report
	}
	return preflight.Report{Results: append(slices.Clip(c.report.Results), c.State.Do(context.Background()))}
}

// renewLocked has the checks made again where their answer is old.
func (c *Checks) renewLocked() {
	if time.Now().After(c.until) {
		c.beginLocked()
	}
}

// beginLocked has the checks made, if they are not being made.
func (c *Checks) beginLocked() {
	if c.running == nil {
		c.running = make(chan struct{})
		c.wg.Go(c.run)
	}
}

// Failing says which check did not pass when they were last made, "" if none. A no is
// looked at again meanwhile.
func (c *Checks) Failing() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, result := range c.currentLocked().Results {
		if result.Status != preflight.Fail {
			continue
		}
		c.renewLocked()
		return result.Name + ": " + result.Detail
	}
	return ""
}

// Doubt has checks that did not pass made again, for a turn has run all the same: the
// platform is to hear that soon.
func (c *Checks) Doubt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.report.OK() {
		c.beginLocked()
	}
}

func (c *Checks) run() {
	ctx, cancel := context.WithTimeout(context.Background(), checksLimit)
	defer cancel()
	if c.Mend != nil {
		c.Mend()
	}
	report := preflight.Run(ctx, c.Checks...)
	lasts := noLasts
	if report.OK() {
		lasts = yesLasts
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report, c.until = report, time.Now().Add(lasts)
	close(c.running)
	c.running = nil
	for _, changed := range c.changed {
		changed()
	}
}

// Close waits for the run under way.
func (c *Checks) Close() error {
	c.wg.Wait()
	return nil
}

// StateOf asks the state that is in use whether it takes a message.
func StateOf(journal *store.Store) preflight.Check {
	return preflight.Check{Name: "state", Run: func(context.Context) preflight.Result {
		if err := journal.Room(); err != nil {
			return preflight.Result{Status: preflight.Fail, Detail: err.Error()}
		}
		return preflight.Result{Status: preflight.OK, Detail: journal.Path()}
	}}
}
