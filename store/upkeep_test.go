package store

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/longtest"
)

// logged returns the pages of the log that are not in the database yet.
func logged(t *testing.T, s *Store) int {
	t.Helper()
	left, err := view(t.Context(), s, "look", func(c *conn) (int, error) {
		var busy, all, moved int
		err := c.get("PRAGMA wal_checkpoint(NOOP)", nil, &busy, &all, &moved)
		return all - moved, err
	})
	must(t, err)
	return left
}

func TestLogIsMovedInQuietMoments(t *testing.T) {
	s := open(t, Config{})
	m, h := message(1, "task")
	m.Body = make([]byte, 2*restPages*pageSize)
	must(t, s.Accept(t.Context(), m, h))
	for deadline := time.Now().Add(time.Minute); logged(t, s) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("the log is not moved")
		}
		time.Sleep(quiet)
	}
}

// TestLookThatIsPutOff comes to its time when a commit has set another.
func TestLookThatIsPutOff(t *testing.T) {
	s := open(t, Config{})
	s.turn.Lock()
	defer s.turn.Unlock()
	now := time.Now()
	next := now.Add(time.Hour)
	s.upkeep.look, s.upkeep.sweep = now.Add(time.Second), next
	s.step(now)
	if !s.upkeep.sweep.Equal(next) {
		t.Error("it became a step of retention")
	}
	s.step(now.Add(time.Second))
	if !s.upkeep.look.IsZero() || !s.upkeep.sweep.Equal(next) {
		t.Errorf("no look when it was time: %+v", s.upkeep)
	}
	s.step(next)
	if s.upkeep.sweep.Equal(next) {
		t.Error("no step of retention when it was time")
	}
}

// TestManyCommitsBringTheLookForward wakes who waits for the later one.
func TestManyCommitsBringTheLookForward(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u upkeep
		for n := 1; n <= 2*manyCommits; n++ {
			if sooner := u.changed(); sooner != (n == 1 || n == manyCommits) {
				t.Errorf("commit %d: sooner is %t", n, sooner)
			}
			want := quiet
			if n >= manyCommits {
				want = quietShort
			}
			if wait := time.Until(u.look); wait != want {
				t.Errorf("commit %d: the look is in %s, want %s", n, wait, want)
			}
		}
	})
}

// TestLogIsBounded has a load without a quiet moment.
func TestLogIsBounded(t *testing.T) {
	longtest.Mark(t)
	s := open(t, Config{})
	accept(t, s, 1, "task")
	body := make([]byte, 1<<20)
	var most int64
	const writers = 2 // so that the queue is never empty for long
	done := make(chan error, writers)
	for range writers {
		go func() {
			var err error
			for i := 0; i < 100 && err == nil; i++ {
				err = s.Write(t.Context(), Change{Task: "task", Artifacts: [][]byte{body}})
			}
			done <- err
		}()
	}
	for left := writers; left > 0; {
		select {
		case err := <-done:
			must(t, err)
			left--
		case <-time.After(time.Millisecond):
		}
		if info, err := os.Stat(s.Path() + "-wal"); err == nil {
			most = max(most, info.Size())
		}
	}
	if most > forcePages*pageSize*5/4 {
		t.Errorf("the log grew to %d MiB", most>>20)
	}
}

// TestSizeOfEvents writes what a long answer makes: small events in batches.
func TestSizeOfEvents(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	accept(t, s, 1, "task")
	empty := size(t, s.Path())
	const events, batch = 60_000, 250
	var text int64
	for first := int64(1); first < events; first += batch {
		body := make([]byte, batch*60)
		text += int64(len(body))
		must(t, s.Write(t.Context(), Change{Task: "task", Events: []Events{{First: first, Last: first + batch - 1, Epoch: 1, Body: body}}}))
	}
	closeStore(t, s)
	took := size(t, s.Path()) - empty
	if took > text*3/2 {
		t.Errorf("%d bytes of text take %d on disk", text, took)
	}
	t.Logf("%d bytes of text take %.2f times as much on disk", text, float64(took)/float64(text))
}
