package sources

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// accountEvery is how often codex is asked for its account while somebody looks.
const accountEvery = 5 * time.Minute

// An AccountHolder asks codex for its account; a [codex.Driver] is one.
type AccountHolder interface {
	LookAtAccount(ctx context.Context) error
}

// An accountLook has codex asked for its account and its limits while somebody looks at
// them: otherwise codex tells of them when they change only.
type accountLook struct {
	of   AccountHolder
	wake chan struct{} // 1-buffered

	mu    sync.Mutex // guards the fields below
	asked time.Time  // when that was wanted last
	pid   int        // of the codex that was to be asked
	held  bool       // no turn was started then, for the want of a login or because of a limit
}

func newAccountLook(of AccountHolder) *accountLook {
	return &accountLook{of: of, wake: make(chan struct{}, 1)}
}

// want has the codex of that pid asked if that was not done lately, or if turns are
// started again that were not: then there is another login, or a fresh allowance. The
// pid 0 is none. It does not wait.
func (a *accountLook) want(pid int, held bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	goesOn := a.held && !held
	if a.held = held; pid == 0 || pid == a.pid && !goesOn && time.Since(a.asked) < accountEvery {
		return
	}
	a.pid, a.asked = pid, time.Now()
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// run asks until ctx ends.
func (a *accountLook) run(ctx context.Context, log *slog.Logger) {
	for {
		select {
		case <-a.wake:
		case <-ctx.Done():
			return
		}
		if err := a.of.LookAtAccount(ctx); err != nil && ctx.Err() == nil {
			log.Debug("codex could not say which account it has, or how much of it is used", "err", err)
		}
	}
}
