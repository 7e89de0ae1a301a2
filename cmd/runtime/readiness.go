package main

import (
	"context"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/preflight"
	"github.com/Molecule-AI/molecule-codex-runtime/server"
)

// checksLast is how long the answer of the checks is believed. They start
// codex twice, which is too much for every probe.
const checksLast = time.Minute

// readiness answers whether a turn would run: by the checks, which are made
// again when their answer is old or was no, and by how the child is.
type readiness struct {
	checks []preflight.Check
	health func() executor.Health

	mu     sync.Mutex // held while the checks run, so that probes share one run
	report preflight.Report
	until  time.Time
}

// get is asked by probes. A probe that goes away cuts the checks short, and
// then what they found is not kept.
func (r *readiness) get(ctx context.Context) server.Readiness {
	report := r.checked(ctx)
	state := server.Readiness{OK: true}
	for _, result := range report.Results {
		failed := result.Status == preflight.Fail
		message := result.Detail
		if result.Fix != "" {
			message += "; " + result.Fix
		}
		state.Checks = append(state.Checks, server.Check{Name: result.Name, OK: !failed, Message: message})
		state.OK = state.OK && !failed
	}
	health := r.health()
	child := childCheck(health.Child)
	state.Checks = append(state.Checks, child)
	state.OK = state.OK && child.OK
	state.Details = map[string]any{"executor": health}
	return state
}

// childCheck accepts a child that runs or is about to: it starts within a
// fraction of a second, and a message waits for it.
func childCheck(child executor.ChildHealth) server.Check {
	check := server.Check{Name: "child", OK: child.Error == "", Message: child.State}
	if child.Error != "" {
		check.Message += ": " + child.Error
	}
	return check
}

func (r *readiness) checked(ctx context.Context) preflight.Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Now().Before(r.until) {
		return r.report
	}
	report := preflight.Run(ctx, r.checks...)
	if ctx.Err() == nil && report.OK() {
		r.report, r.until = report, time.Now().Add(checksLast)
	}
	return report
}
