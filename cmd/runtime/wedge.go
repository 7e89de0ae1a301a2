package main

import (
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// childMayFail is how long a codex that has died may take to be there again before the
// runtime is called wedged.
const childMayFail = 3 * time.Second

// A wedge finds out why no turn can be started.
type wedge struct {
	app     *application
	problem func() string // of the configuration

	mu     sync.Mutex
	failed time.Time // since when codex is not there; zero if it is
}

// why says it in words, "" if turns can be started. It does not wait. The end of a
// limit comes by itself, so that is none.
func (w *wedge) why() string {
	health := w.app.executor.Health()
	switch {
	case health.Hold != nil && health.Hold.Kind == agent.FailAuth:
		return "the model refuses the credential: " + health.Hold.Words()
	case w.childFails(health.Child.Error != ""):
		return "codex does not start: " + health.Child.Error
	}
	if problem := w.problem(); problem != "" {
		return problem
	}
	return w.app.ready.failing()
}

func (w *wedge) childFails(fails bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !fails:
		w.failed = time.Time{}
	case w.failed.IsZero():
		w.failed = time.Now()
	}
	return fails && time.Since(w.failed) >= childMayFail
}
