package tenancy_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/tenancy"
	"github.com/Molecule-AI/molecule-codex-runtime/machine/wire"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A world has what runs for the runtimes.
type world struct {
	mu    sync.Mutex
	takes time.Duration // what an end takes
	fails int           // how many ends go wrong
	ended map[string]int
	begun map[string]int
	alive map[string]int
}

type work struct {
	w       *world
	runtime string
}

func (k *work) Exec(context.Context) (tenancy.Exec, error) { return tenancy.Exec{}, nil }
func (k *work) Number() int                                { return 0 }
func (k *work) Trouble() string                            { return "" }

func (k *work) End() error {
	time.Sleep(k.w.takes)
	k.w.mu.Lock()
	defer k.w.mu.Unlock()
	if k.w.fails > 0 {
		k.w.fails--
		return errors.New("it does not end")
	}
	k.w.ended[k.runtime]++
	k.w.alive[k.runtime]--
	return nil
}

// tenants of two turns, with what runs for them. No two stays of a runtime may run something at a time.
func tenants(t *testing.T) (*tenancy.Tenants, *world) {
	w := &world{ended: map[string]int{}, begun: map[string]int{}, alive: map[string]int{}}
	all := tenancy.New(tenancy.Config{Turns: 2, Logger: slog.New(slog.DiscardHandler), Begin: func(runtime string, _ func()) tenancy.Work {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.begun[runtime]++
		if w.alive[runtime]++; w.alive[runtime] > 1 {
			t.Errorf("%d stays of %s run something", w.alive[runtime], runtime)
		}
		return &work{w: w, runtime: runtime}
	}})
	t.Cleanup(all.Close)
	return all, w
}

func (w *world) ends(runtime string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended[runtime]
}

func enter(t *testing.T, all *tenancy.Tenants, runtime string, epoch int64) *tenancy.Stay {
	t.Helper()
	stay, err := all.Enter(t.Context(), runtime, epoch)
	if err != nil {
		t.Fatal(err)
	}
	return stay
}

// TestSilence: a stay ends when its last watch has been gone for as long as that, and not before.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, w := tenants(t)
		stay := enter(t, all, "r", 1)
		first, second := stay.Watch(), stay.Watch()
		time.Sleep(time.Hour)
		first()
		time.Sleep(time.Hour)
		if stay.Context().Err() != nil {
			t.Fatal("it has ended with a watch")
		}
		second()
		time.Sleep(wire.Silence - time.Millisecond)
		again := stay.Watch()
		time.Sleep(time.Hour)
		if stay.Context().Err() != nil {
			t.Fatal("it has ended although a watch came back in time")
		}
		again()
		time.Sleep(wire.Silence - time.Millisecond)
		synctest.Wait()
		if w.ends("r") != 0 {
			t.Fatal("it has ended too soon")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if w.ends("r") != 1 || stay.Context().Err() == nil {
			t.Errorf("after a silence %d ends, %v", w.ends("r"), stay.Context().Err())
		}
	})
}

// TestNeverWatched: requests alone do not keep a runtime.
func TestNeverWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, w := tenants(t)
		for began := time.Now(); time.Since(began) < wire.Silence; {
			enter(t, all, "r", 1)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		if w.ends("r") != 1 {
			t.Errorf("%d ends", w.ends("r"))
		}
		enter(t, all, "r", 1)
		if w.begun["r"] != 2 {
			t.Errorf("%d stays after it came back", w.begun["r"])
		}
	})
}

// TestEpochs: a later process waits until nothing of an earlier one is left; an earlier one is refused, for good.
func TestEpochs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, w := tenants(t)
		w.takes = time.Second
		stay := enter(t, all, "r", 5)
		release := stay.Watch()
		if err := stay.Begin("t1"); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		later := enter(t, all, "r", 6)
		defer later.Watch()()
		if took := time.Since(began); took != time.Second || w.ends("r") != 1 {
			t.Errorf("the later process was let in after %v, %d ends", took, w.ends("r"))
		}
		if stay.Context().Err() == nil {
			t.Error("the earlier stay goes on")
		}
		if now, _ := later.Look(); now.Taken != 0 {
			t.Errorf("%d turns of the earlier one run", now.Taken)
		}
		if err := stay.Begin("t2"); !errors.Is(err, tenancy.ErrOver) {
			t.Errorf("a turn of the earlier one: %v", err)
		}
		if _, err := all.Enter(t.Context(), "r", 5); !errors.Is(err, tenancy.ErrSuperseded) {
			t.Errorf("the earlier one asks again: %v", err)
		}
		release()
		time.Sleep(time.Hour)
		if later.Context().Err() != nil {
			t.Error("the end of the earlier one's watch has ended the later one")
		}
		enter(t, all, "another", 1)
	})
}

// TestManyAtOnce: requests of a new process that come together are of one stay.
func TestManyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, w := tenants(t)
		w.takes = time.Second
		defer enter(t, all, "r", 1).Watch()()
		var group sync.WaitGroup
		stays := make([]*tenancy.Stay, 20)
		for i := range stays {
			group.Go(func() { stays[i], _ = all.Enter(t.Context(), "r", 2) })
		}
		group.Wait()
		for _, s := range stays {
			if s == nil || s != stays[0] {
				t.Fatalf("stays are %v", stays)
			}
		}
		if w.begun["r"] != 2 {
			t.Errorf("%d stays", w.begun["r"])
		}
	})
}

// TestEndThatTakesLong: a request does not wait for ever, and what could not be ended is tried again.
func TestEndThatTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, w := tenants(t)
		w.takes, w.fails = 3*time.Second, 3
		enter(t, all, "r", 1)
		began := time.Now()
		if _, err := all.Enter(t.Context(), "r", 2); !errors.Is(err, tenancy.ErrEnding) {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		time.Sleep(10 * time.Second)
		enter(t, all, "r", 2)
		if w.ends("r") != 1 {
			t.Errorf("%d ends", w.ends("r"))
		}
	})
}

// TestTurns: bounded over all runtimes, idempotent, in any order, and over with their stay.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, _ := tenants(t)
		a, b := enter(t, all, "a", 1), enter(t, all, "b", 1)
		defer b.Watch()()
		releaseA := a.Watch()
		begin := func(s *tenancy.Stay, turn string, want error) {
			t.Helper()
			if err := s.Begin(turn); !errors.Is(err, want) {
				t.Errorf("turn %s: %v, want %v", turn, err, want)
			}
		}
		begin(a, "1", nil)
		begin(a, "1", nil)
		begin(b, "1", nil)
		begin(b, "2", tenancy.ErrFull)
		begin(a, "1", nil)
		b.End("3") // before its begin
		b.End("1")
		b.End("1")
		begin(b, "3", nil)
		if now, _ := b.Look(); now.Taken != 1 || now.Mine != 0 {
			t.Errorf("%+v", now)
		}
		all.Drain(true)
		begin(b, "4", tenancy.ErrDraining)
		begin(a, "1", nil)
		all.Drain(false)
		all.Trouble("no codex")
		if err := b.Begin("4"); err == nil || err.Error() != "no codex" {
			t.Errorf("%v", err)
		}
		all.Trouble("")
		begin(b, "4", nil)
		now, changed := b.Look()
		if now.Taken != 2 || now.Mine != 1 {
			t.Errorf("%+v", now)
		}
		releaseA()
		<-changed
		if now, _ := b.Look(); now.Taken != 1 {
			t.Errorf("after the end of another runtime: %+v", now)
		}
		for i := range 3000 {
			b.End("x" + strconv.Itoa(i))
		}
		begin(b, "x2999", nil)
		begin(b, "x0", nil) // so long ago that it is forgotten
		if now, _ := b.Look(); now.Taken != 2 {
			t.Errorf("%+v", now)
		}
	})
}

// TestQuiet waits for turns, and not longer than it may.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, _ := tenants(t)
		s := enter(t, all, "r", 1)
		defer s.Watch()()
		if err := s.Begin("1"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if all.Quiet(ctx) {
			t.Error("quiet with a turn")
		}
		time.AfterFunc(time.Minute, func() { s.End("1") })
		if began := time.Now(); !all.Quiet(t.Context()) || time.Since(began) != time.Minute {
			t.Errorf("quiet after %v", time.Since(began))
		}
	})
}

// TestClose ends what runs, and nothing begins any more.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, w := tenants(t)
		s := enter(t, all, "r", 1)
		defer s.Watch()()
		all.Close()
		if w.ends("r") != 1 || s.Context().Err() == nil {
			t.Errorf("%d ends", w.ends("r"))
		}
		if _, err := all.Enter(t.Context(), "r", 1); !errors.Is(err, tenancy.ErrClosed) {
			t.Errorf("%v", err)
		}
	})
}
