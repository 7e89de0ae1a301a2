package channel

import (
	"context"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/sleep"
	"github.com/Molecule-AI/molecule-codex-runtime/platform"
)

const (
	firstWait   = time.Second
	longestWait = time.Minute
	mostAsked   = 10 * time.Minute // that a platform can have us wait
)

// A line is whether a platform answers. The one who polls finds out.
type line struct {
	mu    sync.Mutex
	waits *backoff.ExponentialBackOff
	down  bool
	left  bool // for good
}

func newLine() line {
	waits := &backoff.ExponentialBackOff{InitialInterval: firstWait, Multiplier: 2, MaxInterval: longestWait}
	waits.Reset()
	return line{waits: waits}
}

// failed notes that a poll has failed, and says how long to wait for the next: 1 s to
// 1 min, doubling, or what the platform asks for.
func (l *line) failed(err error) time.Duration {
	asked, _ := platform.Again(err)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	wait := l.waits.NextBackOff()
	if asked > 0 {
		return min(asked, mostAsked)
	}
	return wait
}

// suspect holds replies back until a poll has succeeded: one of them has had no answer.
func (l *line) suspect() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
}

// up notes that a poll has succeeded, and reports whether the one before had not.
func (l *line) up() (again bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	again, l.down = l.down, false
	l.waits.Reset()
	return again
}

func (l *line) isUp() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.down && !l.left
}

// await waits until the platform answers, and reports whether it does; if not, it is left
// or ctx has ended.
func (l *line) await(ctx context.Context) bool {
	for !l.isUp() {
		if l.isLeft() || !sleep.For(ctx, firstWait) {
			return false
		}
	}
	return ctx.Err() == nil
}

// leave has it be down for good.
func (l *line) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = true
}

func (l *line) isLeft() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left
}

// pause is how long to wait after so many failures of one thing and one more.
func pause(failures int, err error) time.Duration {
	wait := longestWait
	if failures < 6 {
		wait = firstWait << failures
	}
	if asked, _ := platform.Again(err); asked > 0 {
		return min(asked, mostAsked)
	}
	return wait
}
