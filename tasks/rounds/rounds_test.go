package rounds_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/tasks/rounds"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A journal is what is to be delivered, and when.
type journal struct {
	start time.Time

	mu      sync.Mutex
	due     map[string]time.Duration
	made    []string
	at      []time.Duration
	flying  int
	highest int
	fail    int           // deliveries that fail before one works
	takes   time.Duration // each
	cut     error
}

func (j *journal) list(context.Context) (due []string, next time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	next = rounds.Idle
	for key, at := range j.due {
		if wait := at - time.Since(j.start); wait > 0 {
			next = min(next, wait)
		} else {
			due = append(due, key)
		}
	}
	slices.Sort(due)
	return due, next
}

func (j *journal) deliver(ctx context.Context, key string) error {
	j.mu.Lock()
	if at, there := j.due[key]; !there || at > time.Since(j.start) { // made while the list was
		j.mu.Unlock()
		return nil
	}
	j.flying++
	j.highest = max(j.highest, j.flying)
	j.mu.Unlock()
	select {
	case <-time.After(j.takes):
	case <-ctx.Done():
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flying--
	if j.cut = context.Cause(ctx); j.cut != nil {
		return j.cut
	}
	if j.fail > 0 {
		j.fail--
		return errors.New("the journal takes nothing")
	}
	delete(j.due, key)
	j.made, j.at = append(j.made, key), append(j.at, time.Since(j.start))
	return nil
}

// in runs the loop in a bubble, ends it, and sees that nothing goes on.
func in(t *testing.T, most int, j *journal, f func(r *rounds.Rounds[string])) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		j.start = time.Now()
		r := rounds.New[string](most)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			r.Run(ctx, j.list, j.deliver)
		}()
		f(r)
		cancel()
		<-done
		if j.flying != 0 {
			t.Errorf("%d deliveries go on when Run has returned", j.flying)
		}
	})
}

func TestMakesWhatIsDueWhenItIs(t *testing.T) {
	j := &journal{due: map[string]time.Duration{"a": 0, "b": time.Minute, "c": 2 * time.Hour}}
	in(t, 4, j, func(*rounds.Rounds[string]) { time.Sleep(3 * time.Hour) })
	if !slices.Equal(j.made, []string{"a", "b", "c"}) || !slices.Equal(j.at, []time.Duration{0, time.Minute, 2 * time.Hour}) {
		t.Errorf("made %v at %v", j.made, j.at)
	}
}

func TestWakeBringsWhatIsNew(t *testing.T) {
	j := &journal{due: map[string]time.Duration{}}
	in(t, 1, j, func(r *rounds.Rounds[string]) {
		time.Sleep(time.Minute)
		j.mu.Lock()
		j.due["a"] = 0
		j.mu.Unlock()
		r.Wake()
		r.Wake()
		synctest.Wait()
	})
	if !slices.Equal(j.at, []time.Duration{time.Minute}) {
		t.Errorf("made %v at %v", j.made, j.at)
	}
}

func TestSoManyAtATime(t *testing.T) {
	for most, took := range map[int]time.Duration{1: 4 * time.Second, 3: 2 * time.Second, 9: time.Second} {
		j := &journal{due: map[string]time.Duration{"a": 0, "b": 0, "c": 0, "d": 0}, takes: time.Second}
		in(t, most, j, func(*rounds.Rounds[string]) { time.Sleep(time.Minute) })
		if j.highest != min(most, 4) || len(j.at) != 4 || j.at[3] != took {
			t.Errorf("with %d: %d at a time, made at %v", most, j.highest, j.at)
		}
		if most == 1 && !slices.IsSorted(j.made) {
			t.Errorf("made in the order %v", j.made)
		}
	}
}

func TestWhatCannotBeNotedComesAgain(t *testing.T) {
	j := &journal{due: map[string]time.Duration{"a": 0}, fail: 3}
	in(t, 1, j, func(*rounds.Rounds[string]) { time.Sleep(time.Minute) })
	if !slices.Equal(j.at, []time.Duration{3 * rounds.Retry}) {
		t.Errorf("made at %v", j.at)
	}
}

// TestStopLeavesAMoment for what is under way, and no more.
func TestStopLeavesAMoment(t *testing.T) {
	for _, c := range []struct {
		takes time.Duration
		made  int
	}{{time.Second, 1}, {time.Hour, 0}} {
		j := &journal{due: map[string]time.Duration{"a": 0}, takes: c.takes}
		in(t, 1, j, func(*rounds.Rounds[string]) { synctest.Wait() })
		if len(j.made) != c.made || (j.cut == nil) != (c.made == 1) {
			t.Errorf("a delivery of %s: made %v, cut %v", c.takes, j.made, j.cut)
		}
	}
}
