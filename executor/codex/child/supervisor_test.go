package child

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// idle returns a supervisor that has nothing to start.
func idle() *Supervisor { return NewSupervisor(Config{Logger: slog.New(slog.DiscardHandler)}) }

// TestFailingFor counts from the first failed start since the last that worked.
func TestFailingFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := idle()
		fail := func(want time.Duration) {
			t.Helper()
			s.fail(errors.New("no codex"))
			if got := s.FailingFor(); got != want {
				t.Errorf("failing for %v, want %v", got, want)
			}
		}
		fail(0)
		time.Sleep(time.Minute)
		fail(time.Minute)
		s.set(stateReady, nil, nil)
		if got := s.FailingFor(); got != 0 {
			t.Errorf("failing for %v behind a start that worked", got)
		}
		time.Sleep(time.Minute)
		fail(0)
	})
}

// TestStartThatHasWorkedSince is no failed one, though codex is gone again: the next is waited for.
func TestStartThatHasWorkedSince(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := idle()
		s.started = true // by nobody: it is for this test to say how it stands
		got := make(chan error, 1)
		go func() {
			_, err := s.Get(t.Context())
			got <- err
		}()
		synctest.Wait()
		s.mu.Lock()
		s.failures++ // and the one that has worked left no error
		s.mu.Unlock()
		s.set(stateStarting, nil, nil)
		synctest.Wait()
		if len(got) > 0 {
			t.Fatalf("it ends with %v", <-got)
		}
		s.fail(errors.New("no codex"))
		if err := <-got; err == nil || err.Error() != "no codex" {
			t.Errorf("behind a failed start it ends with %v", err)
		}
	})
}
