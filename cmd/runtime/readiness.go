package main

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/logging"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/secrets"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
)

// How long the answer of the checks is believed. They start codex twice, which
// is too much for every probe; a no is looked at again soon.
const (
	yesLasts    = time.Minute
	noLasts     = 3 * time.Second
	checksLimit = 30 * time.Second
)

// readiness answers whether a turn would run: by the checks, which are made
// again when their answer is old, and by how the child is. Probes share one run
// of the checks, and none of them can cut it short. close waits for it.
type readiness struct {
	checks   []preflight.Check
	state    preflight.Check // made at each look, for it costs nothing and a disk fills up any time; it may be none
	executor *executor.Executor
	redact   *logging.Redactor // of what is shown
	// registered says whether the platform can send messages, and how that stands;
	// nil standing alone.
	registered func() (bool, string)
	changed    func() // called when the checks have been made; nil standing alone
	mend       func() // puts right what can be, before the checks are made; nil mends nothing
	wg         sync.WaitGroup
	pulse      pulse // of the child

	mu      sync.Mutex // guards the fields below
	report  preflight.Report
	until   time.Time
	running chan struct{} // closed at the end of the run under way; nil without one
}

// get is asked by probes.
func (r *readiness) get(ctx context.Context) server.Readiness {
	report := r.checked(ctx)
	health := r.executor.Health()
	return r.readiness(report, health, r.child(ctx, health.Child))
}

// A glance is readiness as it was found last.
type glance struct {
	server.Readiness
	Checked bool // the checks have been made once
}

// glance is get for those who look all the time: it waits for nothing, and has the
// checks made anew when they are old.
func (r *readiness) glance() glance {
	report := r.known()
	health := r.executor.Health()
	child := server.Check{Name: "child", OK: health.Child.Error == "", Message: health.Child.State}
	if !child.OK {
		child.Message += ": " + health.Child.Error
	}
	return glance{r.readiness(report, health, child), len(report.Results) > 0}
}

func (r *readiness) readiness(report preflight.Report, health executor.Health, child server.Check) server.Readiness {
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
	if r.registered != nil {
		ok, message := r.registered()
		state.Checks = append(state.Checks, server.Check{Name: "registered", OK: ok, Message: message})
		state.OK = state.OK && ok
	}
	for i, check := range state.Checks {
		state.Checks[i].Message = secrets.Shown(check.Message, r.redact)
	}
	health.Child.Error = r.redact.String(health.Child.Error)
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

// child accepts a child that answers or is about to start: it does so within a
// fraction of a second, and a message waits for it.
func (r *readiness) child(ctx context.Context, child executor.ChildHealth) server.Check {
	check := server.Check{Name: "child", OK: child.Error == "", Message: child.State}
	switch err := r.pulse.feel(ctx, r.wg.Go, r.executor.Ping); {
	case child.Error != "":
		check.Message += ": " + child.Error
	case err != nil:
		check.OK = false
		check.Message += ", but it does not answer; the next message restarts it"
	}
	return check
}

// announce makes the checks once at the start and logs those that did not pass.
func (r *readiness) announce(ctx context.Context, log *slog.Logger) {
	for _, result := range r.checked(ctx).Results {
		if ctx.Err() != nil || result.Status == preflight.OK {
			continue
		}
		log.Warn("a check did not pass", "check", result.Name, "status", result.Status, "detail", result.Detail, "fix", result.Fix)
	}
}

// checked returns what the checks found, at most as old as it may be. When ctx
// ends first, that is what they found last time; nothing, if they never ran.
func (r *readiness) checked(ctx context.Context) preflight.Report {
	r.mu.Lock()
	r.renew()
	running := r.running
	r.mu.Unlock()
	if running != nil {
		select {
		case <-running:
		case <-ctx.Done():
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current()
}

// known returns what the checks found last, and does not wait: what is old is looked at
// again meanwhile.
func (r *readiness) known() preflight.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.renew()
	return r.current()
}

// current is what the checks found last, and how the state is now; nothing, if they
// never ran. The caller holds r.mu.
func (r *readiness) current() preflight.Report {
	if len(r.report.Results) == 0 || r.state.Run == nil {
		return r.report
	}
	return preflight.Report{Results: append(slices.Clip(r.report.Results), r.state.Do(context.Background()))}
}

// renew has the checks made again where their answer is old. The caller holds r.mu.
func (r *readiness) renew() {
	if time.Now().After(r.until) {
		r.begin()
	}
}

// begin has the checks made, if they are not being made. The caller holds r.mu.
func (r *readiness) begin() {
	if r.running == nil {
		r.running = make(chan struct{})
		r.wg.Go(r.run)
	}
}

// failing says which check did not pass when they were last made, "" if none. A no is
// looked at again meanwhile.
func (r *readiness) failing() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, result := range r.current().Results {
		if result.Status != preflight.Fail {
			continue
		}
		r.renew()
		return result.Name + ": " + result.Detail
	}
	return ""
}

// doubt has checks that did not pass made again, for a turn has run all the same: the
// platform is to hear that soon.
func (r *readiness) doubt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.report.OK() {
		r.begin()
	}
}

func (r *readiness) run() {
	ctx, cancel := context.WithTimeout(context.Background(), checksLimit)
	defer cancel()
	if r.mend != nil {
		r.mend()
	}
	report := preflight.Run(ctx, r.checks...)
	lasts := noLasts
	if report.OK() {
		lasts = yesLasts
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report, r.until = report, time.Now().Add(lasts)
	close(r.running)
	r.running = nil
	if r.changed != nil {
		r.changed()
	}
}

// close waits for the run under way.
func (r *readiness) close() { r.wg.Wait() }
