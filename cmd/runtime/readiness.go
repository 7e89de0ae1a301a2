package main

import (
	"context"
	"log/slog"
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
	checks   []preflight.Check
	executor *executor.Executor

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
	health := r.executor.Health()
	child := r.child(ctx, health.Child)
	state.Checks = append(state.Checks, child)
	state.OK = state.OK && child.OK
	state.Details = map[string]any{"executor": health}
	return state
}

// childPatience is how long the child may take to answer a probe.
const childPatience = 2 * time.Second

// child accepts a child that answers or is about to start: it does so within a
// fraction of a second, and a message waits for it.
func (r *readiness) child(ctx context.Context, child executor.ChildHealth) server.Check {
	ctx, cancel := context.WithTimeout(ctx, childPatience)
	defer cancel()
	check := server.Check{Name: "child", OK: child.Error == "", Message: child.State}
	switch err := r.executor.Ping(ctx); {
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
