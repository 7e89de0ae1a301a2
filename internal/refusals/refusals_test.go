package refusals

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Molecule-AI/molecule-codex-runtime/internal/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

const (
	mine  = "192.0.2.1:9"
	yours = "198.51.100.1:9"
)

// flood has n guesses come at once, and returns how many wait.
func flood(ctx context.Context, r *Refusals, remote string, n int) (waited chan bool) {
	waited = make(chan bool, n)
	for range n {
		go func() { waited <- r.Wrong(ctx, remote, "a2a") }()
	}
	synctest.Wait()
	return waited
}

// TestRefusalsWait: those of a network come one by one, a few wait, and the others are
// turned away at once; another network has nothing of it.
func TestRefusalsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, begin := New(Config{}), time.Now()
		waited := flood(t.Context(), r, mine, 20)
		if n := len(waited); n != 12 || time.Since(begin) != 0 {
			t.Errorf("%d of 20 were turned away after %v", n, time.Since(begin))
		}
		if !r.Wrong(t.Context(), yours, "a2a") || time.Since(begin) != 300*time.Millisecond {
			t.Errorf("another network waited %v", time.Since(begin))
		}
		got := map[bool]int{}
		for range 20 {
			got[<-waited]++
		}
		if got[true] != 8 || time.Since(begin) != 8*pause {
			t.Errorf("%v after %v", got, time.Since(begin))
		}
		if !r.Wrong(t.Context(), mine, "a2a") || time.Since(begin) != 9*pause {
			t.Errorf("there is no room again, after %v", time.Since(begin))
		}
	})
}

// TestLeavingFreesNothing: a guesser that hangs up does not guess faster, and is not
// waited for.
func TestLeavingFreesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, begin := New(Config{}), time.Now()
		gone, leave := context.WithCancel(t.Context())
		leave()
		for i := range 20 {
			if held := r.Wrong(gone, mine, "a2a"); held != (i < mostAhead) {
				t.Errorf("guess %d: %v", i, held)
			}
		}
		if took := time.Since(begin); took != 0 || r.held != 0 {
			t.Errorf("it was waited %v for, %d are held", took, r.held)
		}
	})
}

// TestNetworksAreMany: a sender with a /48 is bounded in all, and in what it is remembered by.
func TestNetworksAreMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := New(Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		ctx, leave := context.WithCancel(t.Context())
		answers := make(chan bool, 5000)
		for i := range 5000 {
			go func() { answers <- r.Wrong(ctx, fmt.Sprintf("[2001:db8:1:%x::1]:9", i), "a2a") }()
		}
		synctest.Wait()
		if len(answers) != 5000-128 || r.held != 128 {
			t.Errorf("%d are held, %d were turned away", r.held, len(answers))
		}
		if len(r.networks) != mostKnown || r.recent.Len() != mostKnown {
			t.Errorf("%d and %d are remembered", len(r.networks), r.recent.Len())
		}
		if n := strings.Count(log.String(), "\n"); n != 10 {
			t.Errorf("the log has %d lines of it", n)
		}
		leave()
		synctest.Wait()
		log.Reset()
		time.Sleep(2 * saidEvery)
		flood(t.Context(), r, mine, 3)
		if said := log.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "network=192.0.2.1/32 door=a2a times=1 times_elsewhere=") ||
			strings.Contains(said, "times_elsewhere=0") {
			t.Errorf("the log says %q", said)
		}
		// One /64 is one sender.
		for i := range 8 {
			_ = flood(t.Context(), r, fmt.Sprintf("[2001:db8:2:2:%x::1]:9", i), 1)
		}
		if r.Wrong(t.Context(), "[2001:db8:2:2:ffff::1]:9", "a2a") {
			t.Error("addresses of one /64 are taken for several senders")
		}
		time.Sleep(time.Minute)
	})
}

// TestSaidOnceAMinute: and then of how many.
func TestSaidOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		counts := map[Reason]int{}
		r := New(Config{Logger: slog.New(slog.NewTextHandler(&log, nil)), Counted: func(why Reason) { counts[why]++ }})
		begin := time.Now()
		for range 100 {
			r.Wrong(t.Context(), mine, "console")
		}
		r.Missing()
		time.Sleep(time.Until(begin.Add(time.Minute)))
		r.Wrong(t.Context(), mine, "console")
		said := log.String()
		if strings.Count(said, "\n") != 2 || !strings.Contains(said, "door=console times=1 ") || !strings.Contains(said, "times=100 ") {
			t.Errorf("the log says %s", said)
		}
		if counts[Wrong] != 101 || counts[Missing] != 1 || counts[TooMany] != 0 {
			t.Errorf("counted are %v", counts)
		}
	})
}

// TestWeak: what could be found by trying is not compared while there is no room, and only
// then, and only for that network.
func TestWeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		weak, strong := New(Config{Weak: true}), New(Config{})
		if weak.Closed(mine) {
			t.Error("closed before anything came")
		}
		flood(t.Context(), weak, mine, 20)
		flood(t.Context(), strong, mine, 20)
		if !weak.Closed(mine) || weak.Closed(yours) || strong.Closed(mine) {
			t.Errorf("closed: %v, to others %v, strong %v", weak.Closed(mine), weak.Closed(yours), strong.Closed(mine))
		}
		time.Sleep(pause)
		if weak.Closed(mine) {
			t.Error("closed with room for one")
		}
		time.Sleep(time.Minute)
	})
}

// TestWeakToMany: what could be found by trying is not compared either where those who try
// are many networks, and there is no room in all.
func TestWeakToMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		weak, strong := New(Config{Weak: true}), New(Config{})
		for i := range mostHeld {
			from := fmt.Sprintf("[2001:db8:1:%x::1]:9", i)
			flood(t.Context(), weak, from, 1)
			flood(t.Context(), strong, from, 1)
		}
		if !weak.Closed(mine) || strong.Closed(mine) {
			t.Errorf("to one that has tried nothing: closed %v, strong %v", weak.Closed(mine), strong.Closed(mine))
		}
		time.Sleep(pause)
		if weak.Closed(mine) {
			t.Error("closed with room again")
		}
	})
}

// TestLoopbackIsOne: its addresses are all of one machine.
func TestLoopbackIsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		weak := New(Config{Weak: true})
		for i := range mostAhead {
			flood(t.Context(), weak, fmt.Sprintf("127.0.0.%d:9", i+1), 1)
		}
		for _, from := range []string{"127.9.9.9:9", "[::1]:9"} {
			if !weak.Closed(from) {
				t.Errorf("%s is another network", from)
			}
		}
		time.Sleep(time.Minute)
	})
}
