package replay

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/appserver"
	"github.com/Molecule-AI/molecule-codex-runtime/executor"
	"github.com/Molecule-AI/molecule-codex-runtime/internal/wirelog"
	"github.com/Molecule-AI/molecule-codex-runtime/store"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks"
)

// A stage is the program that a run is played to, in a folder of its own.
type stage struct {
	dir      string
	journal  *store.Store
	executor *executor.Executor
	engine   *tasks.Engine
	double   *double
	shim     *shim
	feed     *feed
	work     sync.WaitGroup // what the player has set going
	quit     context.CancelFunc
	ctx      context.Context
}

// shortTimer stands for a timer that has ended something in the record: it runs out
// where nothing else happens any more.
const shortTimer = 2 * time.Second

// build makes a stage for a run. Whatever fails, what was made is taken down by close.
func build(ctx context.Context, cfg Config, r *run, in *inbox) (_ *stage, err error) {
	s := &stage{shim: newShim(in)}
	s.ctx, s.quit = context.WithCancel(ctx)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.dir, err = os.MkdirTemp("", "replay-"); err != nil {
		return nil, err
	}
	if s.double, err = newDouble(ctx, s.dir, in); err != nil {
		return nil, err
	}
	if s.journal, err = store.Open(ctx, store.Config{Dir: filepath.Join(s.dir, "state"), Logger: slog.New(slog.DiscardHandler)}); err != nil {
		return nil, err
	}
	env := append(append([]string(nil), cfg.RelayEnv...), SocketEnv+"="+s.double.socket)
	if s.feed, err = newFeed(s.ctx, r, env); err != nil {
		return nil, err
	}
	settings, err := s.settings(cfg, r)
	if err != nil {
		return nil, err
	}
	s.executor = executor.New(settings)
	s.shim.Executor = s.executor
	s.engine, err = tasks.New(tasks.Config{Runner: s.shim, Journal: s.journal, Logger: cfg.Logger})
	return s, err
}

// settings are those of the record, as far as they decide what codex is told.
func (s *stage) settings(cfg Config, r *run) (executor.Config, error) {
	var was executor.RecordedConfig
	timers := map[string]bool{}
	held, told := false, false
	for _, e := range r.entries {
		var err error
		switch e.Event {
		case executor.RecordConfig:
			was, err = decode[executor.RecordedConfig](e)
		case executor.RecordEnded:
			var end executor.RecordedEnd
			if end, err = decode[executor.RecordedEnd](e); err == nil && end.Failure != nil {
				timers[end.Failure.Timer] = true
			}
		case executor.RecordHeld:
			held = true
		case executor.RecordInstructions:
			told = true
		}
		if err != nil {
			return executor.Config{}, err
		}
	}
	out := executor.Config{
		Child: appserver.Config{
			Bin: cfg.Relay, Dir: s.dir, ClientName: "molecule-codex-runtime", QueueBytes: 512 << 20, // nothing is dropped for want of time
		},
		Thread: was.Thread, Prepare: s.feed.prepare, Book: s.feed, ReadTrace: s.feed.trace, FindTrace: s.feed.trace, Tools: s.feed,
		MaxTurns: was.MaxTurns, MaxQuestions: was.MaxQuestions, MaxMute: was.MaxMute, MaxAsked: cmp.Or(was.MaxAsked, 1<<20), MaxQueue: was.MaxQueue, MaxThreads: was.MaxThreads, MaxWaiting: 1 << 20, MaxBytes: 1 << 50,
		Rules: was.Rules, Open: was.Open, Grace: min(cmp.Or(was.Grace, 5*time.Second), 5*time.Second), Patience: 10 * time.Second,
		Logger: cfg.Logger,
	}
	if len(s.feed.pasts) == 0 { // it had none
		out.Book = nil
	}
	if told {
		out.Instructions = s.feed.instructions
	}
	for name, timer := range map[string]*time.Duration{"turn": &out.TurnTimeout, "idle": &out.IdleTimeout, "item": &out.ItemTimeout} {
		if timers[name] {
			*timer = shortTimer
		}
	}
	if out.IdleTimeout == 0 && was.IdleTimeout > 0 && r.looksUp() {
		out.IdleTimeout = shortTimer
	}
	if r.expires() {
		out.QuestionTTL = shortTimer
	}
	if held {
		out.LoginProbe, out.LimitProbe = time.Second, time.Second
	}
	return out, nil
}

// expires reports whether a question of the run was settled without an answer.
func (r *run) expires() bool {
	answered, over := map[string]bool{}, map[string]bool{}
	for _, e := range r.entries {
		switch e.Event {
		case executor.RecordAnswer:
			if a, err := decode[executor.RecordedAnswer](e); err == nil {
				answered[a.Answer.Question] = true
			}
		case executor.RecordAnswered:
			if a, err := decode[executor.RecordedFact](e); err == nil {
				over[a.ID] = true
			}
		}
	}
	for id := range over {
		if !answered[id] {
			return true
		}
	}
	return false
}

// looksUp reports whether the program has looked into the history of a thread, as it
// does where nothing is heard of a turn for long.
func (r *run) looksUp() bool {
	for _, e := range r.entries {
		if e.Send != nil && e.Method == "thread/turns/list" {
			return true
		}
	}
	return false
}

// done reports whether the record goes on until the program has stopped.
func (r *run) done() bool {
	return len(r.entries) > 0 && r.entries[len(r.entries)-1].Event == wirelog.EventDone
}

// starts reports whether the run has a codex.
func (r *run) starts() bool {
	for _, e := range r.entries {
		if e.Event == wirelog.EventChild || e.Event == executor.RecordLaunch {
			return true
		}
	}
	return false
}

// closeTime is what turns that the record has left running get to end.
const closeTime = 300 * time.Millisecond

// close ends what was built and removes its folder.
func (s *stage) close() error {
	var errs []error
	grace, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), closeTime)
	defer cancel()
	if s.executor != nil {
		_ = s.executor.Close(grace) // that it had to be killed is as good
	}
	s.quit()
	if s.engine != nil {
		later, done := context.WithTimeout(context.WithoutCancel(s.ctx), 5*time.Second)
		errs = append(errs, s.engine.Close(later))
		done()
	}
	s.work.Wait()
	if s.double != nil {
		s.double.close()
	}
	if s.journal != nil {
		errs = append(errs, s.journal.Close())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}
