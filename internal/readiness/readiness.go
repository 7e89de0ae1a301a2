// Package readiness knows whether a turn would run, and tells it to those who ask: probes, the console, the platform
// and metrics.
package readiness

import (
	"context"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
)

// Turns is what makes turns; an [executor.Executor] does.
type Turns interface {
	Health() executor.Health
	Ping(ctx context.Context) error // returns when the child has answered
}

// Config is what readiness is made of.
type Config struct {
	Checks *Checks
	Turns  Turns
	Redact *logging.Redactor // of what is shown
	// Registered says whether the platform can send messages, and how that stands; nil standing alone.
	Registered func() (bool, string)
	Machines   Machines // that commands run on; nil where they run here
}

// Readiness answers whether a turn would run: by the checks and by how the child is. Close waits for what is
// still asked of the child.
type Readiness struct {
	Config
	wg    sync.WaitGroup
	pulse pulse // of the child
}

// New returns the readiness of cfg.
func New(cfg Config) *Readiness { return &Readiness{Config: cfg} }

// Close waits for the probe of the child that is under way.
func (r *Readiness) Close() error {
	r.wg.Wait()
	return nil
}

// Get is asked by probes.
func (r *Readiness) Get(ctx context.Context) server.Readiness {
	report := r.Checks.Made(ctx)
	health := r.Turns.Health()
	return r.with(report, health, r.child(ctx, health.Child))
}

// A Glance is readiness as it was found last.
type Glance struct {
	server.Readiness
	Checked bool // the checks have been made once
}

// Glance is [Readiness.Get] for those who look all the time: it waits for nothing, and has the
// checks made anew when they are old.
func (r *Readiness) Glance() Glance {
	report := r.Checks.Known()
	health := r.Turns.Health()
	child := server.Check{Name: "child", OK: health.Child.Error == "", Message: standing(health.Child)}
	if !child.OK {
		child.Message += ": " + health.Child.Error
	}
	return Glance{r.with(report, health, child), len(report.Results) > 0}
}

// with puts together what was found.
func (r *Readiness) with(report preflight.Report, health executor.Health, child server.Check) server.Readiness {
	state := server.Readiness{OK: len(report.Results) > 0}
	for _, result := range report.Results {
		failed := result.Status == preflight.Fail
		message := result.Detail
		if result.Fix != "" {
			message += "; " + result.Fix
		}
		state.Checks = append(state.Checks, server.Check{Name: result.Name, OK: !failed, Message: message})
		state.OK = state.OK && !failed
	}
	model := modelCheck(health.Hold)
	state.Checks = append(state.Checks, child, model, turnsCheck(health))
	state.OK = state.OK && child.OK && model.OK
	if r.Machines != nil {
		machines := machinesCheck(r.Machines.Standing())
		state.Checks = append(state.Checks, machines)
		state.OK = state.OK && machines.OK
	}
	if r.Registered != nil {
		ok, message := r.Registered()
		state.Checks = append(state.Checks, server.Check{Name: "registered", OK: ok, Message: message})
		state.OK = state.OK && ok
	}
	for i, check := range state.Checks {
		state.Checks[i].Message = secrets.Shown(check.Message, r.Redact)
	}
	health.Child.Error = r.Redact.String(health.Child.Error)
	state.Details = map[string]any{"executor": health}
	return state
}

// modelCheck says whether the model answers. One that wants a login makes us
// unready: nothing gets better by itself. The end of a limit does come, and the
// messages that are sent meanwhile are kept or answered.
func modelCheck(hold *executor.Hold) server.Check {
	check := server.Check{Name: "model", OK: true, Message: "it refuses nothing"}
	switch {
	case hold == nil:
	case hold.Kind == agent.FailAuth:
		check.OK = false
		check.Message = "it refuses the credential: " + hold.Words()
	default:
		check.Message = "a limit (" + hold.Limit + ") is reached, messages wait"
		if !hold.Until.IsZero() {
			check.Message += " until " + hold.Until.UTC().Format(time.RFC3339)
		}
	}
	return check
}

// standing is how a child is, and which codex it is.
func standing(child executor.ChildHealth) string {
	if child.Version == "" {
		return child.State
	}
	return child.State + ", codex " + child.Version
}

// child accepts a child that answers or is about to start: it does so within a
// fraction of a second, and a message waits for it.
func (r *Readiness) child(ctx context.Context, child executor.ChildHealth) server.Check {
	check := server.Check{Name: "child", OK: child.Error == "", Message: standing(child)}
	switch err := r.pulse.feel(ctx, r.wg.Go, r.Turns.Ping); {
	case child.Error != "":
		check.Message += ": " + child.Error
	case err != nil:
		check.OK = false
		check.Message += ", but it does not answer; the next message restarts it"
	}
	return check
}
