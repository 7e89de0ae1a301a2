package readiness

import (
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/agent"
)

// childMayFail is how long a codex that has died may take to be there again before the
// runtime is called wedged.
const childMayFail = 3 * time.Second

// A Wedge finds out why no turn can be started.
type Wedge struct {
	Turns    Turns
	Checks   *Checks
	Problem  func() string // of the configuration; nil if there is none that could have one
	Machines Machines      // that commands run on; nil where they run here

	mu     sync.Mutex
	failed time.Time // since when codex is not there; zero if it is
}

// Why says it in words, "" if turns can be started. It does not wait. The end of a
// limit comes by itself, so that is none.
func (w *Wedge) Why() string {
	health := w.Turns.Health()
	switch {
	case health.Hold != nil && health.Hold.Kind == agent.FailAuth:
		return "the model refuses the credential: " + health.Hold.Words()
	case w.childFails(health.Child.Error != ""):
		return "codex does not start: " + health.Child.Error
	}
	if w.Problem != nil {
		if problem := w.Problem(); problem != "" {
			return problem
		}
	}
	if why := w.Checks.Failing(); why != "" || w.Machines == nil {
		return why
	}
	if s := w.Machines.Standing(); lacksMachines(s) {
		return "no machine takes turns: " + machinesCheck(s).Message
	}
	return ""
}

func (w *Wedge) childFails(fails bool) bool {
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
