package replay

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/Molecule-AI/molecule-codex-runtime/executor"
)

// A shim stands between the engine and the executor. The engine makes a job of each
// message that the player sends it; the executor gets the one of the record.
type shim struct {
	*executor.Executor
	inbox *inbox

	mu       sync.Mutex        // guards the fields below
	expected *executor.Job     // of the record, that the engine is about to submit
	recorded map[string]string // the record's job, by the engine's
	engines  map[string]string // and back
}

func newShim(in *inbox) *shim {
	return &shim{inbox: in, recorded: map[string]string{}, engines: map[string]string{}}
}

// expect says which job the next one of the engine is.
func (s *shim) expect(j executor.Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expected = &j
}

var errUnexpected = errors.New("replay: the engine has made a job that the record has not")

func (s *shim) swap(engines executor.Job) (executor.Job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.expected == nil {
		return engines, errUnexpected
	}
	j := *s.expected
	s.expected = nil
	s.recorded[engines.ID], s.engines[j.ID] = j.ID, engines.ID
	return j, nil
}

// Submit implements [tasks.Runner].
func (s *shim) Submit(j executor.Job, observe executor.Observer) (ahead int, err error) {
	mine, err := s.swap(j)
	if err != nil {
		return 0, err
	}
	s.inbox.put(taken{mine.ID})
	return s.Executor.Submit(mine, s.watch(mine.ID, observe))
}

// Steer implements [tasks.Steerer].
func (s *shim) Steer(into string, j executor.Job, observe executor.Observer) error {
	mine, err := s.swap(j)
	if err != nil {
		return err
	}
	s.inbox.put(taken{mine.ID})
	return s.Executor.Steer(s.of(into), mine, s.watch(mine.ID, observe))
}

// Cancel implements [tasks.Runner].
func (s *shim) Cancel(ctx context.Context, job string) error {
	return s.Executor.Cancel(ctx, s.of(job))
}

// Answer implements [tasks.Answerer].
func (s *shim) Answer(job string, a executor.Answer) error {
	return s.Executor.Answer(s.of(job), a)
}

func (s *shim) of(engines string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.recorded[engines]
}

// watch tells the engine of its own job, and the player after that.
func (s *shim) watch(job string, observe executor.Observer) executor.Observer {
	return func(event executor.Event) {
		if observe != nil {
			observe(s.translated(event))
		}
		s.inbox.put(observed{job, event})
	}
}

// translated is an event with the engine's names for jobs.
func (s *shim) translated(event executor.Event) executor.Event {
	end, ok := event.(executor.Ended)
	if !ok || len(end.Taken) == 0 {
		return event
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	end.Taken = slices.Clone(end.Taken)
	for i, job := range end.Taken {
		if engines, ok := s.engines[job]; ok {
			end.Taken[i] = engines
		}
	}
	return end
}
