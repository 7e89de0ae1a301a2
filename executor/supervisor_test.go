package executor

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestFailingFor counts from the first failed start since the last that worked.
func TestFailingFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New(Config{})
		s := e.child
		fail := func(want time.Duration) {
			t.Helper()
			s.fail(errors.New("no codex"))
			if got := s.failingFor(); got != want {
				t.Errorf("failing for %v, want %v", got, want)
			}
		}
		fail(0)
		time.Sleep(time.Minute)
		fail(time.Minute)
		s.set(childReady, nil, nil)
		if got := s.failingFor(); got != 0 {
			t.Errorf("failing for %v behind a start that worked", got)
		}
		time.Sleep(time.Minute)
		fail(0)
	})
}
