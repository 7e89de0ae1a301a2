package tenancy

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

// Why a request is refused.
var (
	ErrSuperseded = errors.New("this runtime has begun anew since: by a later process, or after it took this machine for lost")
	ErrFull       = errors.New("as many turns run here as may")
	ErrDraining   = errors.New("this machine drains: it takes no new turns")
	ErrMany       = errors.New("this machine works for as many runtimes as it may")
	ErrOver       = errors.New("what this machine had for the runtime has been ended: ask again")
	ErrEnding     = errors.New("what ran here for the runtime before has not ended yet")
	ErrClosed     = errors.New("this machine is about to end")
)

// A SupersededError is [ErrSuperseded], with the epoch that the runtime has said.
type SupersededError struct{ Epoch int64 }

func (e *SupersededError) Error() string { return ErrSuperseded.Error() }

// Is reports whether the target is [ErrSuperseded].
func (e *SupersededError) Is(target error) bool { return target == ErrSuperseded }

// A TroubleError says why the machine takes no turns.
type TroubleError string

func (e TroubleError) Error() string { return string(e) }

// An Exec is where an exec-server is reached, and its token.
type Exec struct {
	Addr, Token string
	Number      int // as [Work.Number]
}

// A Work is what runs for a stay. Its methods may be called concurrently.
type Work interface {
	// Exec returns the exec-server, which is started if there is none.
	Exec(ctx context.Context) (Exec, error)
	// Number is another one for each exec-server; 0 before the first.
	Number() int
	// Trouble is why it can have no exec-server; empty where it has one, or may.
	Trouble() string
	// End ends all that runs, and returns when nothing is left. After an error it is called again.
	End() error
}

const (
	// mostKnown is how many runtimes are remembered, those that are gone among them.
	mostKnown = 1024
	// endTime is how long a request waits for the end of what an earlier epoch has left.
	endTime = 10 * time.Second
	// endAgain is after how long an end is tried again that was none.
	endAgain = time.Second
)

// A Config says what tenants go by.
type Config struct {
	Turns int // that run at a time, of all runtimes
	// Begin makes what runs for a stay, which runs nothing yet. It calls changed when its number changes.
	Begin   func(runtime string, changed func()) Work
	Silence time.Duration // 0 means [wire.Silence]
	Logger  *slog.Logger
}

// Tenants are the runtimes of a machine. Create them with [New].
type Tenants struct {
	cfg Config
	log *slog.Logger

	ending sync.WaitGroup // of stays

	mu       sync.Mutex // guards the fields below, and those of stays
	all      map[string]*Stay
	taken    int // turns
	draining bool
	trouble  string
	closed   bool
	changed  chan struct{} // closed and replaced at each change of what a status says
}

// New returns tenants of which none is there.
func New(cfg Config) *Tenants {
	cfg.Silence = cmp.Or(cfg.Silence, wire.Silence)
	return &Tenants{cfg: cfg, log: cfg.Logger, all: map[string]*Stay{}, changed: make(chan struct{})}
}

// Enter returns the stay of an epoch of a runtime. What an earlier one has is ended first, and waited for.
func (t *Tenants) Enter(ctx context.Context, runtime string, epoch int64) (*Stay, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, endTime, ErrEnding)
	defer cancel()
	for {
		stay, wait, err := t.enter(runtime, epoch)
		if stay != nil || err != nil {
			return stay, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// enter returns a stay, or what has to be waited for until one may begin.
func (t *Tenants) enter(runtime string, epoch int64) (_ *Stay, wait <-chan struct{}, _ error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, nil, ErrClosed
	}
	known := t.all[runtime]
	switch {
	case known == nil:
		if len(t.all) >= mostKnown && !t.forgetLocked() {
			return nil, nil, ErrMany
		}
	case known.epoch > epoch:
		return nil, nil, &SupersededError{known.epoch}
	case known.state == living && known.epoch == epoch:
		return known, nil, nil
	case known.state == living:
		t.endLocked(known, "the runtime has begun anew")
		return nil, known.gone, nil
	case known.state == ending:
		return nil, known.gone, nil
	}
	return t.beginLocked(runtime, epoch), nil, nil
}

// forgetLocked forgets a runtime that is gone.
func (t *Tenants) forgetLocked() bool {
	for runtime, stay := range t.all {
		if stay.state == gone {
			delete(t.all, runtime)
			return true
		}
	}
	return false
}

func (t *Tenants) beginLocked(runtime string, epoch int64) *Stay {
	ctx, leave := context.WithCancel(context.Background())
	s := &Stay{
		t: t, runtime: runtime, epoch: epoch, ctx: ctx, leave: leave, gone: make(chan struct{}),
		turns: map[string]bool{}, work: t.cfg.Begin(runtime, t.tell),
	}
	t.all[runtime] = s
	s.fadeLocked() // an epoch without a watch is not there for long
	t.log.Info("a runtime has come", "runtime_id", runtime)
	return s
}

// endLocked ends a stay that lives.
func (t *Tenants) endLocked(s *Stay, why string) {
	s.state = ending
	s.leave()
	s.fading.Stop()
	t.taken -= len(s.turns)
	t.log.Info("what ran for a runtime is ended", "runtime_id", s.runtime, "reason", why, "turns", len(s.turns))
	clear(s.turns)
	t.tellLocked()
	t.ending.Go(func() { t.end(s) })
}

// end ends what runs for a stay, however long that takes.
func (t *Tenants) end(s *Stay) {
	for {
		err := s.work.End()
		if err == nil {
			break
		}
		t.log.Error("what ran for a runtime could not be ended, and is tried again", "runtime_id", s.runtime, "err", err)
		time.Sleep(endAgain) //nolint:forbidigo // nothing can come in between: who waits for the end has a limit
		if t.leaving() {
			break
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.state = gone
	close(s.gone)
}

func (t *Tenants) leaving() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// tell has all who wait for a change look again.
func (t *Tenants) tell() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tellLocked()
}

func (t *Tenants) tellLocked() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// Close ends every stay, has none begin, and waits until nothing is left, or could not be ended.
func (t *Tenants) Close() {
	t.mu.Lock()
	t.closed = true
	for _, s := range t.all {
		if s.state == living {
			t.endLocked(s, "the machine ends")
		}
	}
	t.mu.Unlock()
	t.ending.Wait()
}
